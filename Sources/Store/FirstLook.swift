package import Faults
import FileSystem
import Migrations

/// The first hundred bytes of a file, before SQLite may touch it.
///
/// Even a read-only open by SQLite leaves `-wal` and `-shm` behind, so what is not ours is refused
/// first. Source: SQLite's file format, section 1.3 (magic, user version at 60, application id at 68).
enum FirstLook {
  private static let magic = Array("SQLite format 3\u{0}".utf8)

  static func check(_ path: String) throws(VaultError) {
    let header = try files("opening \(path)") { () throws(FileError) -> [UInt8] in
      let file = try Files.openExisting(path, write: false)
      var bytes = [UInt8](repeating: 0, count: 100)
      var span = bytes.mutableSpan
      // Bytes have no padding.
      var raw = unsafe span.mutableBytes
      let count = try file.read(into: &raw, at: 0)
      return Array(bytes[..<count])
    }
    guard header.count == 100, Array(header[..<16]) == magic,
      word(header, 68) == VaultFile.applicationID
    else { throw .foreign(path, isEmpty: header.isEmpty) }
    let version = word(header, 60)
    if version > Int64(Migrations.currentFormat) { throw .newer(path, version) }
    if version < 1 { throw .foreign(path, isEmpty: false) }
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> Int64 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
  }
}

extension VaultError {
  package static func noVault(at path: String) -> VaultError {
    VaultError(.notFound, "no vault at \(path)", hint: "vault init")
  }

  static func foreign(_ path: String, isEmpty: Bool) -> VaultError {
    VaultError(
      .damaged, "\(path) is not a vault\(isEmpty ? ": it is empty" : "")",
      hint: "vault init --vault PATH",
      reason: .foreignFile)
  }

  static func newer(_ path: String, _ version: Int64) -> VaultError {
    VaultError(
      .newerFormat,
      "\(path) has format \(version), made by a later version; this one reads up to"
        + " \(Migrations.currentFormat)", hint: "vault version")
  }
}
