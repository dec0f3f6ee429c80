import Foundation

/// `Tests/FormatReader/read_vault.py`: a program of its own in another language, which knows the file
/// by `Documentation/Format.md` alone.
enum FormatReader {
  struct Answer {
    var status: Int32
    var vault: [String: Any]
    var errors: String
  }

  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "FormatReader/read_vault.py").path

  /// Whether Python, its SQLite and libsodium are here.
  static let isThere: Bool = {
    let ready = try? run(["-c", "import sqlite3, ctypes; ctypes.CDLL('libsodium.so.23')"])
    return ready?.status == 0
  }()

  static func read(_ vault: String, _ arguments: String...) throws -> Answer {
    let (status, output, errors) = try run([script, vault] + arguments)
    let parsed = try output.isEmpty ? [:] : JSONSerialization.jsonObject(with: output)
    return Answer(status: status, vault: parsed as? [String: Any] ?? [:], errors: errors)
  }

  /// Runs SQL on the vault's file by Python's SQLite, as somebody would who has the file and no key.
  static func tamper(_ vault: String, _ sql: String) throws -> Bool {
    let program =
      "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]);"
      + " c = d.executescript(sys.argv[2]); d.commit()"
    return try run(["-c", program, vault, sql]).status == 0
  }

  private static func run(_ arguments: [String]) throws -> (status: Int32, Data, String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // One line at most comes here, which no pipe is too small for.
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let text = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, data, String(decoding: text, as: UTF8.self))
  }
}
