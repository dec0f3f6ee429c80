import Foundation
import Testing

/// A page whose fenced blocks say where they come from, in a comment on the line above:
/// `<!-- transcript: NAME -->` or `<!-- file: PATH -->`.
struct MarkedPage {
  var lines: [String]

  init(_ text: String) { lines = text.components(separatedBy: "\n") }

  /// The lines of the block below the comment `mark`, without its fences; nil where there is none.
  func block(_ mark: String) -> Range<Int>? {
    guard let comment = lines.firstIndex(of: "<!-- \(mark) -->"), comment + 1 < lines.count,
      lines[comment + 1].hasPrefix("```"),
      let end = lines[(comment + 2)...].firstIndex(of: "```")
    else { return nil }
    return comment + 2..<end
  }

  func text(_ mark: String) -> String? {
    block(mark).map { lines[$0].map { $0 + "\n" }.joined() }
  }

  /// Puts `text` in place of the block below the comment `mark`.
  mutating func set(_ mark: String, to text: String) {
    guard let old = block(mark) else { return }
    lines.replaceSubrange(
      old,
      with: text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .map(String.init))
  }

  /// The paths of all blocks that say that they are a file.
  var files: [String] {
    lines.compactMap { line in
      guard line.hasPrefix("<!-- file: "), line.hasSuffix(" -->") else { return nil }
      return String(line.dropFirst(11).dropLast(4))
    }
  }
}

@Suite struct `The README` {
  /// What stands in the README for the directory that a session is in.
  private static let home = "/home/lestat"
  private let file = RecordedSession.root.appendingPathComponent("README.md")

  private func page() throws -> MarkedPage {
    MarkedPage(try String(contentsOf: file, encoding: .utf8))
  }

  /// The session that `Scripts/quickstart` shows.
  private func quickstart() throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["Scripts/quickstart", "--session"]
    process.currentDirectoryURL = RecordedSession.root
    process.environment = [
      "PATH": "/usr/bin:/bin", "VAULT_EXECUTABLE": Shell.executable.path, "SHOWN_HOME": Self.home,
    ]
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let session = String(decoding: output, as: UTF8.self)
    try #require(process.terminationStatus == 0, "\(session)")
    return session
  }

  @Test func `shows of the quickstart's session what really comes`() throws {
    let mark = "transcript: quickstart"
    var page = try page()
    let shown = try Transcript(#require(page.text(mark)))
    // The README leaves out what a first reader need not see.
    let commands = shown.steps.map(\.command)
    let session = try Transcript(quickstart())
    let actual = Transcript(steps: session.steps.filter { commands.contains($0.command) })
    if RecordedSession.isRecording {
      page.set(mark, to: actual.text)
      try page.lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    } else if let difference = shown.masked(home: Self.home)
      .difference(from: actual.masked(home: Self.home))
    {
      Issue.record("README.md, as it says (-) and as it goes now (+):\n\(difference)")
    }
  }

  @Test func `shows each file as it is`() throws {
    let page = try page()
    for path in page.files {
      let file = RecordedSession.root.appendingPathComponent(path)
      #expect(try page.text("file: \(path)") == String(contentsOf: file, encoding: .utf8))
    }
  }
}

@Suite struct `A marked block` {
  @Test func `is found, read and replaced`() {
    var page = MarkedPage(
      "a\n<!-- transcript: b -->\n```console\n$ true\n```\n<!-- file: x/y.swift -->\n```swift\nz\n```\n"
    )
    #expect(page.text("transcript: b") == "$ true\n")
    #expect(page.files == ["x/y.swift"])
    #expect(page.text("file: x/y.swift") == "z\n")
    page.set("transcript: b", to: "$ false\n? 1\n")
    #expect(page.text("transcript: b") == "$ false\n? 1\n")
    #expect(page.text("file: x/y.swift") == "z\n")
  }
}
