import Foundation
import QRCode
import TestSupport
import Testing

/// What `zbarimg`, another program, reads in the codes that are shown.
@Suite struct QRCodeTests {
  /// The modules of terminal lines, dark ones as 1, row by row.
  private static func modules(_ lines: String, ink: QRCode.Ink) throws -> [[Int]] {
    var rows: [[Int]] = []
    for var line in lines.split(separator: "\n").map(String.init) {
      if ink == .colored {
        try #require(line.hasPrefix("\u{1b}[38;5;16;48;5;231m") && line.hasSuffix("\u{1b}[0m"))
        line = String(line.dropFirst("\u{1b}[38;5;16;48;5;231m".count).dropLast("\u{1b}[0m".count))
      }
      let drawn = ink == .colored ? 1 : 0
      for half in 0..<2 {
        rows.append(
          try line.map { character in
            let halves = try #require(
              [" ": [false, false], "▀": [true, false], "▄": [false, true], "█": [true, true]][
                String(character)])
            return halves[half] ? drawn : 1 - drawn
          })
      }
    }
    return rows
  }

  /// What zbarimg reads in a picture of these modules, four pixels each.
  private static func read(_ rows: [[Int]]) throws -> String {
    let directory = try TemporaryDirectory()
    let scale = 4
    var picture = "P1\n\(rows[0].count * scale) \(rows.count * scale)\n"
    for row in rows {
      let line = row.flatMap { Array(repeating: String($0), count: scale) }
      for _ in 0..<scale { picture += line.joined(separator: " ") + "\n" }
    }
    try Data(picture.utf8).write(to: URL(fileURLWithPath: directory("code.pbm")))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/zbarimg")
    process.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", directory("code.pbm")]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  static let texts = [
    "https://www.facebook.com/device?user_code=ABCD-1234",
    "https://example.org/authorize?response_type=code&client_id=a%20b&redirect_uri="
      + "http%3A%2F%2F127.0.0.1%3A40000%2Fcb&scope=read+write&state="
      + String(repeating: "x", count: 300),
    "1", "HELLO WORLD", String(repeating: "a%", count: 600),
  ]

  @Test(arguments: texts, [QRCode.Ink.colored, .plain])
  func `a reader reads what was encoded`(_ text: String, _ ink: QRCode.Ink) throws {
    let code = try #require(QRCode(text))
    let lines = try #require(code.lines(columns: 200, ink: ink))
    #expect(try Self.read(Self.modules(lines, ink: ink)) == text + "\n")
  }

  @Test func `it is square, with four light modules around it`() throws {
    let code = try #require(QRCode("https://example.org/"))
    let lines = try #require(code.lines(columns: 80, ink: .plain))
    let rows = try Self.modules(lines, ink: .plain)
    let width = code.side + 2 * QRCode.margin
    #expect(rows.allSatisfy { $0.count == width })
    // Two rows to a line: an odd count has one more light row.
    #expect(rows.count == width + width % 2)
    for index in 0..<4 {
      #expect(rows[index].allSatisfy { $0 == 0 })
      #expect(rows[width - 1 - index].allSatisfy { $0 == 0 })
      #expect(rows.allSatisfy { $0[index] == 0 && $0[width - 1 - index] == 0 })
    }
    // The finder pattern's corner.
    #expect(code.isDark(row: 0, column: 0) && !code.isDark(row: -1, column: 0))
    #expect(rows[4][4] == 1)
  }

  @Test func `it is left out where a line has no room for it`() throws {
    let code = try #require(QRCode("https://example.org/"))
    let width = code.side + 2 * QRCode.margin
    #expect(code.lines(columns: width, ink: .plain) != nil)
    #expect(code.lines(columns: width - 1, ink: .plain) == nil)
    #expect(code.lines(columns: 0, ink: .colored) == nil)
  }

  @Test func `there is none of nothing, and none of too much`() {
    #expect(QRCode("") == nil)
    #expect(QRCode(String(repeating: "a", count: 2331)) != nil)
    #expect(QRCode(String(repeating: "a", count: 2332)) == nil)
  }
}
