import Foundation

/// A directory of its own, removed with all that is in it when the value dies.
final class TemporaryDirectory {
  let path: String

  init() throws {
    // SQLite refuses symbolic links in any component, so the path is resolved first.
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = base + "/accountvault-sqlite-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Makes an empty file with mode 0600, as the vault does before SQLite sees it.
  func newFile(_ name: String) -> String {
    let file = path + "/" + name
    let made = FileManager.default.createFile(
      atPath: file, contents: nil, attributes: [.posixPermissions: 0o600])
    precondition(made)
    return file
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  func size(_ name: String) throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return facts[.size] as? Int ?? -1
  }
}
