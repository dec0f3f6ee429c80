import Foundation

/// Runs the commands of a transcript in one `/bin/sh`, in a new and empty home directory.
///
/// The shell gets HOME and PATH and nothing else, umask 022, no terminal and no input. The directory
/// is its working directory, and is removed at the end.
struct Shell {
  /// The session ended in another way than by its last command.
  struct Cut: Error, CustomStringConvertible { var description: String }

  /// Where the executable `vault` lies: `VAULT_EXECUTABLE`, else beside these tests.
  static var executable: URL {
    if let path = ProcessInfo.processInfo.environment["VAULT_EXECUTABLE"] {
      return URL(fileURLWithPath: path)
    }
    return Bundle.main.bundleURL.appendingPathComponent("vault")
  }

  let vault: URL
  /// Whether an agent of the vault runs from the first command on after which there is a vault and
  /// something that says what opens it.
  var hasAgent = false
  /// Seconds after which the session is ended.
  var limit = 120

  init(hasAgent: Bool = false) throws {
    self.hasAgent = hasAgent
    vault = Self.executable
    guard vault.lastPathComponent == "vault",
      FileManager.default.isExecutableFile(atPath: vault.path)
    else { throw Cut(description: "\(vault.path) is not an executable named vault") }
  }

  /// Starts the agent of the vault in the usual place, where there is none yet.
  private static let agent = """
    if test -e "${VAULT_FILE:-$HOME/.local/share/vault/accounts.vault}" && \
      test -n "$VAULT_KEY_FILE$VAULT_PASSPHRASE_FILE" && ! vault status >/dev/null 2>&1; then
      vault agent --background </dev/null >/dev/null 2>&1
    fi

    """

  /// What came of the commands of `transcript`, in place of what it says of them, masked.
  func run(_ transcript: Transcript) throws -> Transcript {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("t-\(UUID().uuidString)").resolvingSymlinksInPath()
    let home = directory.appendingPathComponent("home")
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }

    // A line that no command writes, since none was told it before.
    let marker = "\(UUID().uuidString):"
    let runtime = directory.appendingPathComponent("run")
    try FileManager.default.createDirectory(
      at: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    var script = "umask 022\ncd \"$HOME\" || exit 125\nexec 2>&1\n"
    for step in transcript.steps {
      // `eval` stands in this shell: what one command exports, the next one has.
      let quoted = "'" + step.command.replacing("'", with: #"'\''"#) + "'"
      script += "eval \(quoted) </dev/null\nprintf '%s%s\\n' '\(marker)' \"$?\"\n"
      if hasAgent { script += Self.agent }
    }
    if hasAgent { script += "kill $(cat \"$XDG_RUNTIME_DIR\"/vault/*/agent.lock) 2>/dev/null\n" }
    let file = directory.appendingPathComponent("session.sh")
    try script.write(to: file, atomically: false, encoding: .utf8)

    let process = Process()
    // A session of its own has no terminal, so nothing can ask at that of whoever runs the tests.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    process.arguments = ["--wait", "timeout", "--kill-after=5", "\(limit)", "/bin/sh", file.path]
    var environment = [
      "HOME": home.path,
      "PATH": vault.deletingLastPathComponent().path + ":/usr/bin:/bin",
    ]
    if hasAgent { environment["XDG_RUNTIME_DIR"] = runtime.path }
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    var result = transcript
    var rest = Substring(output)
    for index in transcript.steps.indices {
      guard let mark = rest.range(of: marker),
        let end = rest[mark.upperBound...].firstIndex(of: "\n"),
        let status = Int32(rest[mark.upperBound..<end])
      else {
        let why = process.terminationStatus == 124 ? "took over \(limit) s" : "ended the shell"
        throw Cut(description: "\(transcript.steps[index].command): \(why)\n\(rest)")
      }
      result.steps[index].output = String(rest[..<mark.lowerBound])
      result.steps[index].status = status
      rest = rest[rest.index(after: end)...]
    }
    return result.masked(home: home.path)
  }
}
