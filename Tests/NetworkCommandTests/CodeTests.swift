import Foundation
import QRCode
import TestSupport
import Testing

@testable import Command
@testable import NetworkCommand

@Suite struct `A QR code` {
  private static let address = "https://example.org/device?user_code=ABCD-1234"

  /// What is shown on a terminal of so many columns.
  private func shown(
    columns: UInt16, _ variables: [String: String] = [:]
  ) async throws -> String {
    var (controller, terminal): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&controller, &terminal, nil, nil, &size) == 0)
    defer { close(controller) }
    // A terminal's buffer is small, so it is read while it is written.
    let all = Task.detached { [controller] in
      var all: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = read(controller, &buffer, buffer.count), count > 0 {
        all += buffer[..<count]
      }
      return String(decoding: all, as: UTF8.self)
    }
    try draw(on: terminal, variables)
    // Once the last one closes it, reading ends.
    close(terminal)
    return await all.value
  }

  private func draw(on descriptor: Int32, _ variables: [String: String]) throws {
    var run = Run(
      Invocation(
        arguments: ["accounts"], environment: ProcessEnvironment(variables), standardInput: 0,
        standardOutput: 1, standardError: descriptor))
    let context = run.begin()
    try #require(context).showCode(Self.address)
  }

  @Test func `is drawn as wide as it is, in colours of its own or none`() async throws {
    let code = try #require(QRCode(Self.address))
    let colored = try await shown(columns: 80)
    #expect(colored.replacing("\r\n", with: "\n") == code.lines(columns: 80, ink: .colored))
    let plain = try await shown(columns: 80, ["NO_COLOR": "1"])
    #expect(plain.replacing("\r\n", with: "\n") == code.lines(columns: 80, ink: .plain))
  }

  @Test func `is not drawn where there is no room or no terminal`() async throws {
    #expect(try await shown(columns: 20) == "")
    #expect(try await shown(columns: 0) == "")
    let directory = try TemporaryDirectory()
    let file = open(directory.newFile("error"), O_WRONLY | O_CLOEXEC)
    try draw(on: file, [:])
    close(file)
    #expect(try directory.size("error") == 0)
  }
}
