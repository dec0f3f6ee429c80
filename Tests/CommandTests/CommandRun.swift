import Foundation
import Testing
import Time

@testable import Command

/// A private directory, removed with all that is in it when the value dies.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = base + "/accountvault-command-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a file and returns its path.
  @discardableResult
  func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
    try file(name, Data(text.utf8), mode: mode)
  }

  @discardableResult
  func file(_ name: String, _ data: Data, mode: Int = 0o600) throws -> String {
    try data.write(to: URL(fileURLWithPath: self(name)))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self(name))
    return self(name)
  }
}

/// What came of a run of the command in this process.
struct CommandRun {
  let status: Command.ExitStatus
  let output: String
  let error: String

  /// Runs it with files for its output, no terminal, and `input` on its standard input.
  ///
  /// Whatever it was run for: it ends with a code that the table says of it.
  init(_ arguments: [String], environment: [String: String] = [:], input: String = "") throws {
    let directory = try TemporaryDirectory()
    let output = open(directory("output"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    let error = open(directory("error"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    let input = open(try directory.file("input", input), O_RDONLY | O_CLOEXEC)
    defer { for descriptor in [output, error, input] { close(descriptor) } }
    status = Command.run(
      Invocation(
        arguments: arguments, environment: ProcessEnvironment(environment), standardInput: input,
        standardOutput: output, standardError: error))
    self.output = try String(contentsOfFile: directory("output"), encoding: .utf8)
    self.error = try String(contentsOfFile: directory("error"), encoding: .utf8)
    let name = arguments.first { CommandTable.command(named: $0) != nil }
    if let name, let command = CommandTable.command(named: name) {
      let exits = [.ok, .usage, .io] + command.exits
      #expect(exits.contains(status), "\(arguments): \(status), which the table does not have")
    }
  }

  /// The hint's text, where there is one.
  var hint: String? {
    error.split(separator: "\n").first { $0.hasPrefix("vault: hint: ") }.map {
      String($0.dropFirst("vault: hint: ".count))
    }
  }
}

/// The executable `vault` that was built beside these tests.
enum Executable {
  static var path: String { Bundle.main.bundleURL.appendingPathComponent("vault").path }

  struct Ended {
    let status: Int32
    let text: String
  }

  /// Runs a script of bash, with `vault` first in PATH and no other variable; its output and error.
  static func bash(_ script: String, session: Bool = false) throws -> Ended {
    let process = Process()
    // The threads of these tests block signals, which a child would inherit.
    let unblocked = "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); exec @ARGV"
    let arguments = [
      "/usr/bin/perl", "-e", unblocked, "/usr/bin/timeout", "30", "/bin/bash", "-c", script,
    ]
    process.executableURL = URL(fileURLWithPath: session ? "/usr/bin/setsid" : "/usr/bin/env")
    process.arguments = (session ? ["--wait"] : []) + arguments
    let folder = Bundle.main.bundleURL.path
    process.environment = ["PATH": "\(folder):/usr/bin:/bin", "HOME": "/nonexistent"]
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Ended(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
  }
}

/// Texts that are compared whole. With VAULT_RECORD_SNAPSHOTS=1 they are written instead, and the
/// change shows in review.
enum Snapshot {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// - Parameter path: From the root of the package.
  static func expect(
    _ text: String, is path: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = root.appendingPathComponent(path)
    if ProcessInfo.processInfo.environment["VAULT_RECORD_SNAPSHOTS"] == "1" {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let kept = try String(contentsOf: file, encoding: .utf8)
    #expect(
      text == kept, "\(path) differs; VAULT_RECORD_SNAPSHOTS=1 records it anew",
      sourceLocation: sourceLocation)
  }
}
