import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

/// A running agent, a provider of this machine, and the app `bot`, which holds `profile` on one account:
/// what the programs in Examples expect.
final class AppPlace {
  let place: SendPlace
  let key: String
  private let uploads = Mutex<[[UInt8]]>([])

  /// What is uploaded: more than a piece.
  static let picture = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  init(_ options: String...) throws {
    let place = try SendPlace()
    self.place = place
    key = try place.agent.addApp("bot", options: options)
    try place.agent.vault("grant --app bot --perms profile --account lestat")
    place.on("/api/me", .json(#"{"name":"Lestat"}"#))
    place.on("/api/picture", HTTPServer.Response(200, body: Self.picture))
    place.on("/api/photos") { request in
      request.body == Self.picture && request.header("Content-Type") == "image/png"
        ? .json(#"{"photo":1}"#, status: 201) : .text("another picture", status: 400)
    }
  }

  var agent: RunningAgent { place.agent }
  var api: String { place.server.url + "/api" }
  func callAsFunction(_ name: String) -> String { place.agent.directory(name) }

  /// Writes `app.key`, `app.header` and the picture into a directory.
  func writeFiles(in directory: String) throws {
    try AgentHome.write(key + "\n", to: directory + "/app.key", mode: 0o400)
    try AgentHome.write(
      "Authorization: Bearer \(key)\n", to: directory + "/app.header", mode: 0o400)
    try Self.writePicture(to: directory + "/picture")
  }

  /// Everybody may read it, whatever umask a socket that another test makes has set for the moment.
  static func writePicture(to path: String) throws {
    try Data(picture).write(to: URL(fileURLWithPath: path))
    try #require(chmod(path, 0o644) == 0)
  }

  /// Copies a file of Examples, which everybody may read and run.
  static func copyExample(_ name: String, to path: String) throws {
    try FileManager.default.copyItem(
      atPath: `An example of an app`.examples.appending(path: name).path, toPath: path)
    try #require(chmod(path, 0o755) == 0)
  }

  /// Runs a program of an app that asks for `post`, waits for the owner, and then ends by itself.
  ///
  /// While it waits its arguments and environment, which every process of its user can read, are looked
  /// through for the key. Then the owner grants what it asked for.
  ///
  /// - Parameter meanwhile: Done before that.
  /// - Returns: What it wrote.
  func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    meanwhile: () throws -> Void = {}
  ) throws -> String {
    let output = self("output-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: output, contents: nil)
    let process = Process()
    // The threads of these tests block signals, which a child would inherit. A line is written when it
    // is whole.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/perl")
    process.arguments =
      [
        "-e",
        "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); umask 022; alarm 600; exec @ARGV; exit 127",
        "/usr/bin/stdbuf", "-oL", program,
      ] + arguments
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = process.standardOutput
    try process.run()
    defer { if process.isRunning { process.terminate() } }
    func text() -> String {
      String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
    }
    try #require(
      waits { text().contains("event access_requested") || !process.isRunning }, "\(text())")
    try #require(process.isRunning, "\(text())")
    let shown = Self.arguments()
    let last = arguments.last ?? program
    #expect(shown.contains { $0.contains(last) })
    #expect(!shown.contains { $0.contains(key) })
    try meanwhile()
    try agent.vault("grant --app bot --perms post --audience friends --account lestat")
    try #require(waits { !process.isRunning }, "\(text())")
    #expect(process.terminationStatus == 0, "\(text())")
    return text()
  }

  /// The arguments and the environment of each process that may be read.
  private static func arguments() -> [String] {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.filter { Int($0) != nil }.flatMap { process in
      ["cmdline", "environ"].compactMap { name in
        FileManager.default.contents(atPath: "/proc/\(process)/\(name)").map {
          String(decoding: $0, as: UTF8.self)
        }
      }
    }
  }
}
