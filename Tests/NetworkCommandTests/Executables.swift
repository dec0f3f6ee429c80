import AccountVault
import Foundation
import TestSupport

@testable import Command

/// The two executables that were built beside these tests, or that `VAULT_EXECUTABLE` names.
enum Executables {
  static var vault: String {
    ProcessInfo.processInfo.environment["VAULT_EXECUTABLE"]
      ?? Bundle.main.bundleURL.appendingPathComponent("vault").path
  }

  static var agent: String {
    URL(fileURLWithPath: vault).deletingLastPathComponent().appendingPathComponent("vault-agent")
      .path
  }

  struct Ended {
    let status: Int32
    let output: String
    let error: String
  }

  /// Runs an executable with an empty standard input.
  static func run(
    _ path: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Ended {
    let directory = try TemporaryDirectory()
    for name in ["output", "error"] { _ = directory.newFile(name) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path].merging(environment) {
      $1
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: directory("output"))
    process.standardError = FileHandle(forWritingAtPath: directory("error"))
    try process.run()
    process.waitUntilExit()
    return Ended(
      status: process.terminationStatus,
      output: try String(contentsOfFile: directory("output"), encoding: .utf8),
      error: try String(contentsOfFile: directory("error"), encoding: .utf8))
  }
}

extension TemporaryDirectory {
  /// A vault that opens with the passphrase `correct horse`, derived as cheaply as is allowed.
  func newVault() throws -> String {
    let passphrase = try text("passphrase", "correct horse\n")
    let ended = try Executables.run(
      Executables.vault,
      [
        "init", "--vault", self("v.vault"), "--passphrase-file", passphrase, "--kdf-memory", "19M",
      ])
    guard ended.status == 0 else { throw CocoaError(.executableRuntimeMismatch) }
    return self("v.vault")
  }

  /// Writes a file and returns its path.
  @discardableResult
  func text(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: self(name)))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self(name))
    return self(name)
  }
}
