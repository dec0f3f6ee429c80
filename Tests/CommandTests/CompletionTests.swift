import Foundation
import Testing

@testable import Command

/// A line that is completed, and what is offered.
struct Completed: Sendable, CustomTestStringConvertible {
  let words: [String]
  let offered: [String]
  init(_ words: [String], _ offered: [String]) {
    self.words = words
    self.offered = offered
  }
  var testDescription: String { words.joined(separator: " ") }
}

@Suite struct `Completions` {
  static let cases = [
    Completed(["gr"], ["grant"]),
    Completed(["--json", "rem"], ["remove-account", "remove-client", "remove-app", "remove-key"]),
    Completed(["--vault", "x.vault", "gr"], ["grant"]),
    Completed(["grant", "--aud"], ["--audience"]),
    Completed(["grant", "--audience", ""], ["everyone", "friends", "only_me"]),
    Completed(["help", "gr"], ["grant"]),
    Completed(["completions", ""], ["bash", "zsh", "fish"]),
    Completed(["history", "--event", "access"], ["access_requested"]),
    Completed(["grant", "--app", "a"], []),
  ]

  private func script(_ shell: String, in directory: TemporaryDirectory) throws -> String {
    let run = try CommandRun(["completions", shell])
    #expect(run.status == .ok)
    #expect(run.error.isEmpty)
    return try directory.file(shell, run.output)
  }

  @Test(arguments: cases)
  func `of bash offer what fits`(_ completed: Completed) throws {
    let directory = try TemporaryDirectory()
    let file = try script("bash", in: directory)
    let words = (["vault"] + completed.words).map { "'\($0)'" }.joined(separator: " ")
    let ended = try Executable.bash(
      """
      cd \(directory.path) && source \(file) || exit
      complete -p vault >/dev/null || exit
      COMP_WORDS=(\(words)); COMP_CWORD=\(completed.words.count); _vault
      for word in "${COMPREPLY[@]}"; do echo "$word"; done
      """)
    #expect(ended.status == 0)
    #expect(Set(ended.text.split(separator: "\n").map(String.init)) == Set(completed.offered))
  }

  @Test func `of bash offer the value behind an equals sign`() throws {
    let directory = try TemporaryDirectory()
    let file = try script("bash", in: directory)
    let ended = try Executable.bash(
      """
      source \(file)
      COMP_WORDS=(vault grant --audience = fr); COMP_CWORD=4; _vault; echo "${COMPREPLY[*]}"
      COMP_WORDS=(vault --vault = x gr); COMP_CWORD=4; _vault; echo "${COMPREPLY[*]}"
      """)
    #expect(ended.text == "friends\ngrant\n")
  }

  @Test func `of bash offer files`() throws {
    let directory = try TemporaryDirectory()
    try directory.file("a file.json", "{}")
    let file = try script("bash", in: directory)
    let ended = try Executable.bash(
      """
      cd \(directory.path) && source \(file)
      COMP_WORDS=(vault check-provider a); COMP_CWORD=2; _vault; echo "${COMPREPLY[0]}"
      """)
    #expect(ended.text == "a file.json\n")
  }

  @Test(.enabled(if: isThere("fish"), "fish is not installed"), arguments: cases)
  func `of fish offer what fits`(_ completed: Completed) throws {
    let directory = try TemporaryDirectory()
    let file = try script("fish", in: directory)
    let line = (["vault"] + completed.words).joined(separator: " ")
    let ended = try Executable.bash(
      "cd \(directory.path); rm -f x; HOME=\(directory.path) fish --no-config "
        + "-c 'source \(file); complete -C \"\(line)\"'")
    let offered = ended.text.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
      .map(String.init)
    #expect(ended.status == 0)
    #expect(Set(offered) == Set(completed.offered), "\(ended.text)")
  }

  @Test(.enabled(if: isThere("zsh"), "zsh is not installed"))
  func `of zsh are a script that zsh reads`() throws {
    let directory = try TemporaryDirectory()
    let file = try script("zsh", in: directory)
    let ended = try Executable.bash(
      """
      export HOME=\(directory.path)
      zsh -f -n \(file) && zsh -f -c 'autoload -Uz compinit && compinit -u && source \(file) \\
        && print ${_comps[vault]}'
      """)
    #expect(ended.status == 0)
    #expect(ended.text == "_vault\n")
  }

  @Test func `with JSON are an object with the script`() throws {
    let plain = try CommandRun(["completions", "fish"])
    let run = try CommandRun(["completions", "fish", "--json"])
    let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: String]
    #expect(object == ["shell": "fish", "script": plain.output])
  }

  static func isThere(_ shell: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(shell)")
  }
}

@Suite struct `The executable` {
  @Test func `ends without a word when its reader goes away`() throws {
    let ended = try Executable.bash(
      "vault help | head -1; echo \"? ${PIPESTATUS[0]}\"; "
        + "{ vault help; echo \"? $?\" >&2; } | true")
    let lines = ended.text.split(separator: "\n")
    #expect(lines.first == "vault keeps accounts in one encrypted file, and who was allowed what.")
    // The help fits into a pipe, so the first may have been written whole.
    #expect(["? 0", "? 74"].contains(lines[1]))
    #expect(["? 0", "? 74"].contains(lines[2]))
    #expect(lines.count == 3)
  }

  @Test func `says that a full disk refused its data`() throws {
    let ended = try Executable.bash("vault help >/dev/full; echo \"? $?\"")
    #expect(ended.text == "vault: error: standard output: no space left on device\n? 74\n")
  }

  @Test func `does not write messages into what took the place of a closed descriptor`() throws {
    let ended = try Executable.bash(
      "vault version >&-; echo \"? $?\"; vault 2>&-; echo \"? $?\"; vault version <&-")
    #expect(
      ended.text
        == "vault: error: standard output: bad file descriptor\n? 74\n? 64\nvault 0.1.0\n")
  }
}
