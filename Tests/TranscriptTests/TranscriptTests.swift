import Foundation
import Testing

/// A file of `Tests/Transcripts`. With `VAULT_TRANSCRIPTS=record` in the environment each is written
/// anew as it goes now, for a change of the output that is meant; what git then shows is the review.
struct RecordedSession: CustomTestStringConvertible {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let directory = root.appendingPathComponent("Tests/Transcripts")
  static let isRecording = ProcessInfo.processInfo.environment["VAULT_TRANSCRIPTS"] == "record"

  static var all: [RecordedSession] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
    return (names ?? []).filter { $0.hasSuffix(".txt") }.sorted().map(RecordedSession.init)
  }

  var name: String
  var testDescription: String { String(name.dropLast(4)).replacing("-", with: " ") }
  var file: URL { Self.directory.appendingPathComponent(name) }
}

@Suite struct `The command` {
  @Test func `has sessions recorded that it is held against`() {
    #expect(!RecordedSession.all.isEmpty)
  }

  @Test(arguments: RecordedSession.all)
  func `behaves as recorded`(_ session: RecordedSession) throws {
    let expected = try Transcript(String(contentsOf: session.file, encoding: .utf8))
    let actual = try Shell().run(expected)
    if RecordedSession.isRecording {
      try actual.text.write(to: session.file, atomically: true, encoding: .utf8)
    } else if let difference = expected.difference(from: actual) {
      Issue.record("\(session.name), as recorded (-) and as it goes now (+):\n\(difference)")
    }
  }

  /// What an agent is there to change: commands without a key of their own, and the environment.
  private static let otherwise = [
    "a-session-starts-in-an-empty-home.txt",
    "a-vault-stays-locked-without-a-passphrase-or-key.txt",
    "the-ledger-is-verified-and-proved.txt",
  ]

  @Test(
    .enabled(if: !RecordedSession.isRecording),
    arguments: RecordedSession.all.filter { !otherwise.contains($0.name) })
  func `behaves as recorded where an agent runs`(_ session: RecordedSession) throws {
    let expected = try Transcript(String(contentsOf: session.file, encoding: .utf8))
    let actual = try Shell(hasAgent: true).run(expected)
    if let difference = expected.difference(from: actual) {
      Issue.record("\(session.name), as recorded (-) and with an agent (+):\n\(difference)")
    }
  }
}

@Suite struct `A transcript` {
  private let session = """
    # Two commands.
    $ printf 'one\\ntwo\\n'
    one
    two
    $ cat <<END
    > three
    > END
    three
    $ printf four; exit_with() { return 5; }; exit_with
    four
    \\ no newline
    ? 5

    """

  @Test func `is read and written without a change`() throws {
    let transcript = try Transcript(session)
    #expect(transcript.steps.map(\.status) == [0, 0, 5])
    #expect(transcript.steps[1].command == "cat <<END\nthree\nEND")
    #expect(transcript.steps[2].output == "four")
    #expect(transcript.text == session)
  }

  @Test func `goes as it says`() throws {
    let transcript = try Transcript(session)
    let actual = try Shell().run(transcript)
    #expect(transcript.difference(from: actual) == nil)
  }

  @Test(arguments: [
    ("three\n$", "thre\n$", "  > END\n- thre\n+ three\n"),
    ("? 5", "? 6", "- ? 6\n+ ? 5"),
    ("\\ no newline\n", "", "+ \\ no newline\n"),
    ("one\n", "", "+ one\n  two\n"),
    ("two\n", "two\nmore\n", "- more\n"),
  ])
  func `that says otherwise is found`(_ from: String, _ to: String, _ shown: String) throws {
    let transcript = try Transcript(session.replacing(from, with: to))
    let actual = try Shell().run(transcript)
    let difference = try #require(transcript.difference(from: actual))
    #expect(difference.contains(shown))
  }

  @Test(arguments: [
    "no command\n", "$ true\n? 0\n", "$ true\n? x\n", "$ false\n? 1\nbelow\n", "$ true",
    "$ true\n\\ no newline\n",
  ])
  func `that is malformed is refused`(_ text: String) {
    #expect(throws: Transcript.Malformed.self) { try Transcript(text) }
  }

  @Test func `whose command ends the shell is cut, and says where`() throws {
    let transcript = try Transcript("$ true\n$ echo last words; exit 3\n$ true\n")
    let cut = #expect(throws: Shell.Cut.self) { try Shell().run(transcript) }
    #expect(cut?.description.contains("exit 3: ended the shell\nlast words") == true)
  }

  @Test func `that takes too long is cut`() throws {
    var shell = try Shell()
    shell.limit = 1
    let transcript = try Transcript("$ sleep 30\n")
    let cut = #expect(throws: Shell.Cut.self) { try shell.run(transcript) }
    #expect(cut?.description == "sleep 30: took over 1 s\n")
  }
}

@Suite struct `A masked value` {
  @Test func `shows its form and whether it was met before`() {
    var masks = Masks(home: "/tmp/a")
    let one = String(repeating: "mzxw6ytboi4dgnbv", count: 2).prefix(26)
    let two = String(one.reversed())
    #expect(masks.apply(to: "/tmp/a/x \(one) \(two) \(one)") == "<home>/x <id-1> <id-2> <id-1>")
    #expect(masks.apply(to: "{\"id\":\"\(two)\"}") == "{\"id\":\"<id-2>\"}")
    let hash = String(repeating: "0f", count: 32)
    #expect(masks.apply(to: "root \(hash), \(hash)") == "root <digest-1>, <digest-1>")
    #expect(masks.apply(to: "at 2026-11-30T06:10:00Z") == "at <time>")
  }

  @Test func `is left as it is once masked`() {
    var masks = Masks()
    let text = "<home>/x <id-1> <time> <digest-2> vapp_<key> <recovery-code> <base64>"
    #expect(masks.apply(to: text) == text)
  }

  @Test func `is no word, number or path that a person would write`() {
    var masks = Masks()
    let text =
      "facebook:lestat.ali publish_actions 5183944 2026-11-30 EAAB0example0token ~/vault.key"
    #expect(masks.apply(to: text) == text)
  }
}
