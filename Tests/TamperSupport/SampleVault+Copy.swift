import Faults
import Foundation

extension SampleVault {
  /// Copies file, log and heads into another directory, which need not exist.
  public func copy(to directory: String, heads: Bool = true, log: Bool = true) throws -> SampleVault
  {
    let other = SampleVault(in: directory)
    let files = FileManager.default
    try files.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for suffix in log ? ["", "-wal"] : [""] where files.fileExists(atPath: path + suffix) {
      try? files.removeItem(atPath: other.path + suffix)
      try files.copyItem(atPath: path + suffix, toPath: other.path + suffix)
    }
    if heads, files.fileExists(atPath: self.heads) {
      try? files.removeItem(atPath: other.heads)
      try files.copyItem(atPath: self.heads, toPath: other.heads)
    }
    return other
  }

  /// Puts another copy's file (and log) in the place of this one's; the heads stay.
  public func putBack(_ older: SampleVault) throws {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    _ = try older.copy(to: directory, heads: false)
  }

  /// The one head of this vault.
  public var head: String {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: heads)
        .filter { $0.hasSuffix(".head") }
      guard names.count == 1 else { throw Attack.Failed(description: "heads: \(names)") }
      return "\(heads)/\(names[0])"
    }
  }
}

/// What `body` throws, or nil.
public func fault(_ body: () throws(VaultError) -> Void) -> VaultError? {
  do throws(VaultError) {
    try body()
    return nil
  } catch {
    return error
  }
}
