import Foundation

/// A process that was run to its end.
public struct Child: Sendable {
  public let status: Int32
  /// The signal that ended it, or 0.
  public let signal: Int32
  public let output: String
  public let errors: String

  public var isSuccess: Bool { status == 0 && signal == 0 }

  /// Where `crash-driver` lies: `CRASH_DRIVER`, such as an optimized one, else beside the tests.
  public static var driver: String {
    ProcessInfo.processInfo.environment["CRASH_DRIVER"]
      ?? Bundle.main.bundleURL.appendingPathComponent("crash-driver").path
  }

  /// Runs a program with nothing at its input; `timeout` ends it after so many seconds.
  public static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    seconds: Int = 300
  ) throws -> Child {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["timeout", "--signal=KILL", "\(seconds)", program] + arguments
    if !environment.isEmpty {
      // The preload is for the program, not for what starts it.
      process.arguments =
        ["timeout", "--signal=KILL", "\(seconds)", "env"]
        + environment.map { "\($0.key)=\($0.value)" } + [program] + arguments
    }
    process.environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]
    process.standardInput = FileHandle.nullDevice
    let files = (0..<2).map { _ in
      FileManager.default.temporaryDirectory.appendingPathComponent("child-\(UUID().uuidString)")
    }
    defer { for file in files { try? FileManager.default.removeItem(at: file) } }
    for file in files { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let texts = files.map {
      String(decoding: FileManager.default.contents(atPath: $0.path) ?? Data(), as: UTF8.self)
    }
    let code = process.terminationStatus
    // `timeout` itself ends by the signal that ended what it ran, or says 128 and it.
    let isSignal = process.terminationReason == .uncaughtSignal || code > 128
    return Child(
      status: code, signal: isSignal ? code & 0x7f : 0, output: texts[0], errors: texts[1])
  }
}
