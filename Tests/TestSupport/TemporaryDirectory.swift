import Foundation

/// A private directory of its own, removed with all that is in it when the value dies.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() throws {
    // SQLite refuses symbolic links in any component, so the path is resolved first.
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = base + "/accountvault-test-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a name in it.
  public func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Makes an empty file with mode 0600, as the vault does before SQLite sees it.
  public func newFile(_ name: String) -> String {
    let made = FileManager.default.createFile(
      atPath: self(name), contents: nil, attributes: [.posixPermissions: 0o600])
    precondition(made)
    return self(name)
  }

  /// Makes a program of a script, which can be started at once.
  ///
  /// Another process writes it: while this one did, a child that another test starts at that moment
  /// would hold it open for writing, and the kernel starts no program that somebody writes to.
  @discardableResult
  public func program(_ name: String, _ script: String) throws -> String {
    try Data(script.utf8).write(to: URL(fileURLWithPath: self(name + ".text")))
    try run("/usr/bin/install", "-m", "700", self(name + ".text"), self(name))
    return self(name)
  }

  public func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  /// Bytes.
  public func size(_ name: String) throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: self(name))
    return facts[.size] as? Int ?? -1
  }
}
