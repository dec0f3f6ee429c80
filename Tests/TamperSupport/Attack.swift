import Foundation

/// Another program's hand on a vault file.
public enum Attack {
  public struct Failed: Error, CustomStringConvertible {
    public var description: String
    public init(description: String) { self.description = description }
  }

  /// Runs SQL with the command `sqlite3`, as somebody who may write the file would.
  @discardableResult
  public static func sql(_ path: String, _ statements: String) throws -> String {
    let child = try Child.run("sqlite3", ["-batch", "-bail", path, statements])
    guard child.isSuccess, child.errors.isEmpty else {
      throw Failed(description: "sqlite3 \(statements): \(child.errors)")
    }
    return child.output.trimmingCharacters(in: .newlines)
  }

  /// Runs a Python program with the path as its first argument.
  @discardableResult
  public static func python(_ program: String, _ arguments: String...) throws -> String {
    let child = try Child.run("python3", ["-c", program] + arguments)
    guard child.isSuccess else { throw Failed(description: "python3: \(child.errors)") }
    return child.output.trimmingCharacters(in: .newlines)
  }

  /// The bytes of a file.
  public static func bytes(_ path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Failed(description: "nothing at \(path)")
    }
    return Array(data)
  }

  /// Writes bytes into a file in place, as `dd conv=notrunc` does.
  public static func overwrite(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }
}
