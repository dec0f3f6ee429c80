import Foundation

/// A program that was started: it never asks at a terminal, never outlives its limit, and its output
/// can be read while it runs.
///
/// Its output goes to files, so that neither a full pipe nor a grandchild that keeps one open can
/// hold the tests up.
final class Running {
  struct Failed: Error, CustomStringConvertible { var description: String }

  /// What came of it.
  struct Ended: Sendable {
    let status: Int32
    let output: String
    let errors: String

    /// The last line of its output as JSON.
    func json() throws -> JSONReply { try JSONReply(output) }
  }

  private let process = Process()
  private let directory: String
  private let name: String

  /// Starts it. `seconds` after which it is killed, with whatever it started in its group.
  init(
    _ program: String, _ arguments: [String], environment: [String: String],
    input: String = "", seconds: Int = 90
  ) throws {
    name = ([(program as NSString).lastPathComponent] + arguments).joined(separator: " ")
    directory = NSTemporaryDirectory() + "/running-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    for file in ["output", "errors", "pid"] {
      _ = FileManager.default.createFile(atPath: "\(directory)/\(file)", contents: nil)
    }
    try input.write(toFile: "\(directory)/input", atomically: false, encoding: .utf8)
    // The threads of these tests block signals, which a child would inherit. A session of its own has
    // no terminal.
    let unblocked = """
      use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new());
      open(my $pid, '>', shift @ARGV); print $pid $$; close($pid); exec @ARGV; exit 127
      """
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    process.arguments =
      ["--wait", "timeout", "--kill-after=5", "\(seconds)", "perl", "-e", unblocked]
      + ["\(directory)/pid", program] + arguments
    process.environment = environment
    process.standardInput = try FileHandle(forReadingFrom: URL(filePath: "\(directory)/input"))
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: "\(directory)/output"))
    process.standardError = try FileHandle(forWritingTo: URL(filePath: "\(directory)/errors"))
    try process.run()
  }

  deinit {
    if process.isRunning { kill() }
    try? FileManager.default.removeItem(atPath: directory)
  }

  private func text(_ file: String) -> String {
    String(
      decoding: FileManager.default.contents(atPath: "\(directory)/\(file)") ?? Data(),
      as: UTF8.self)
  }

  /// What it said on standard error so far.
  var errors: String { text("errors") }
  var output: String { text("output") }

  /// Waits until `find` finds something in what it said, at most `seconds`.
  func waiting<Value>(
    for what: String, seconds: Double = 30, _ find: (Running) throws -> Value?
  ) throws -> Value {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let isRunning = process.isRunning
      if let found = try find(self) { return found }
      guard isRunning else {
        throw Failed(description: "\(name) ended without \(what): \(output)\(errors)")
      }
      guard ContinuousClock.now < end else {
        throw Failed(description: "\(name): no \(what) after \(seconds) s: \(output)\(errors)")
      }
      usleep(20_000)
    }
  }

  /// Ends it as `kill -9` does.
  func kill() {
    if let pid = Int32(text("pid")) { _ = Glibc.kill(pid, SIGKILL) }
    process.waitUntilExit()
  }

  /// Its end.
  func end() throws -> Ended {
    process.waitUntilExit()
    guard process.terminationStatus != 124 else {
      throw Failed(description: "\(name) took too long: \(output)\(errors)")
    }
    return Ended(status: process.terminationStatus, output: output, errors: errors)
  }
}
