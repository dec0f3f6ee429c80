import Foundation
import Testing

/// Asks the compiler, since what this promises is that some programs are none.
@Suite(
  .enabled(
    if: FileManager.default.fileExists(atPath: Compiler.modules.path),
    "the compiled modules do not lie beside the tests"))
struct `A program` {
  @Test(arguments: ["SecretBytes", "SigningKey", "KeyedHash", "SecretWriter"])
  func `that lends a secret compiles, and one that shows it does not`(_ type: String) throws {
    #expect(try Compiler.accepts("func lend(_ secret: borrowing \(type)) { pass(secret) }", type))
    for use in [
      "print(secret)", "debugPrint(secret)", "dump(secret)", "_ = \"\\(secret)\"",
      "_ = String(describing: secret)", "_ = String(reflecting: secret)",
      "_ = Mirror(reflecting: secret)", "_ = secret as Any", "_ = [secret]",
    ] {
      #expect(
        try !Compiler.accepts("func show(_ secret: borrowing \(type)) { \(use) }", type), "\(use)")
    }
  }
}

enum Compiler {
  static let modules = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "Modules")

  static let shims = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/CSodium")

  /// Whether `text` is a program. It can call `pass`, which borrows a value of the type.
  static func accepts(_ text: String, _ type: String) throws -> Bool {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    try """
    @testable import Sodium
    func pass(_ value: borrowing \(type)) {}
    \(text)
    """.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path, "-I", shims.path,
      file.path,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
