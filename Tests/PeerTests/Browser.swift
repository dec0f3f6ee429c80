import Foundation
import TestSupport

/// Chromium with a person before it, as the program that `$BROWSER` names.
final class Browser {
  let directory: TemporaryDirectory
  /// What to put into `BROWSER`.
  var command: String { directory("browser") }

  /// - Parameter isWilling: Whether the person says yes.
  init(at peer: Peer, isWilling: Bool = true) throws {
    directory = try TemporaryDirectory()
    let person = try peer.person()
    try (person.password + "\n").write(
      toFile: directory("password"), atomically: false, encoding: .utf8)
    let script = """
      #!/bin/sh
      exec >>'\(directory("log"))' 2>&1
      export PYTHONDONTWRITEBYTECODE=1
      exec /usr/bin/python3 '\(Peer.folder)/browser.py' --user '\(person.name)' \
      --password-file '\(directory("password"))' --report '\(directory("report"))' \
      \(isWilling ? "" : "--deny") "$1"

      """
    try directory.program("browser", script)
  }

  /// What the browser met, once it has ended; it ends by itself within a minute.
  func report() throws -> JSONReply {
    let end = ContinuousClock.now + .seconds(70)
    while ContinuousClock.now < end {
      if let data = FileManager.default.contents(atPath: directory("report")) {
        return try JSONReply(whole: String(decoding: data, as: UTF8.self))
      }
      usleep(50_000)
    }
    let log = FileManager.default.contents(atPath: directory("log")) ?? Data()
    throw Running.Failed(
      description: "the browser did not report: \(String(decoding: log, as: UTF8.self))")
  }

  /// Opens an address without anybody else's doing.
  func open(_ address: String) throws -> JSONReply {
    _ = try Running(
      command, [address], environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
    ).end()
    return try report()
  }
}
