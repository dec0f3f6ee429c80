import Foundation
import Testing

/// `Examples/Embedding`, a package of its own as an embedder has it: it depends on this one by its
/// path and imports nothing but `AccountVault`.
@Suite struct `The example program` {
  private let root = RecordedSession.root

  private func run(
    _ program: String, _ arguments: [String], input: String = "", home: String
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = root
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    process.environment = ["HOME": home, "PATH": path]
    let output = Pipe()
    let given = Pipe()
    process.standardInput = given
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try given.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test(.timeLimit(.minutes(20))) func `builds by itself and prints what the README says`() throws {
    let home = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "example-\(UUID())").path
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: home) }
    // Its products stay beside ours, so that only the first build is a long one.
    let built = try run(
      "/usr/bin/env",
      [
        "swift", "build", "--package-path", "Examples/Embedding", "--scratch-path",
        ".build/examples",
      ], home: home)
    try #require(built.status == 0, "\(built.output)")
    let program = root.appending(path: ".build/examples/debug/Embedding").path
    let vault = home + "/vault/accounts.vault"
    let first = try run(program, [vault], input: "correct horse\n", home: home)
    #expect(first.status == 0)
    let page = MarkedPage(
      try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))
    #expect(try first.output == #require(page.text("output: Examples/Embedding")))
    // The vault is there now and is opened; the answer is a new sign-in.
    let second = try run(program, [vault], input: "correct horse\n", home: home)
    #expect(second.status == 0 && second.output.contains("signed_in"), "\(second.output)")
    let third = try run(program, [vault], input: "wrong horse\n", home: home)
    #expect(third.status != 0 && !third.output.contains("EAAB0example"))
  }
}
