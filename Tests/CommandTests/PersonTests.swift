import Foundation
import Testing

@testable import Command

/// The command on a terminal of its own, with a person who types.
@Suite struct `A person at the terminal` {
  /// Runs a command as the leader of a new terminal. `answers` are typed one after the other, each
  /// when its prompt has been shown; `!` kills the process instead. Prints the screen and the code.
  private static let driver = """
    import os, pty, select, signal, sys, time
    steps = sys.argv[1].split('|') if sys.argv[1] else []
    child, terminal = pty.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp('vault', ['vault'] + sys.argv[2:])
    screen, start, end = b'', 0, time.time() + 20
    while time.time() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try: data = os.read(terminal, 4096)
            except OSError: break
            if not data: break
            screen += data
        if steps:
            prompt, answer = steps[0].split('=', 1)
            found = screen.find(prompt.encode(), start)
            if found >= 0:
                start = len(screen); steps.pop(0)
                if answer == '!': os.kill(child, signal.SIGKILL)
                else: os.write(terminal, answer.encode() + b'\\n')
    status = os.waitpid(child, 0)[1]
    print(screen.decode().replace('\\r\\n', '\\n'), end='')
    print('?', os.waitstatus_to_exitcode(status), 'left' if steps else '')
    """

  private func run(_ vault: ScratchVault, key: Bool = true, _ answers: String, _ line: String)
    throws -> String
  {
    let file = try vault.directory.file("driver.py", Self.driver)
    var variables = "NO_COLOR=1 HOME=\(vault.directory.path) VAULT_FILE=\(vault.path)"
    if key { variables += " VAULT_KEY_FILE=\(vault.directory("key"))" }
    return try Executable.bash("export \(variables); python3 \(file) '\(answers)' \(line)").text
  }

  @Test func `makes a vault with a passphrase, and is told what to do next`() throws {
    let vault = try ScratchVault()
    let path = vault.directory("second/second.vault")
    let screen = try run(
      vault, key: false, "New passphrase=correct horse|again=correct horse",
      "init --vault \(path) --no-recovery --kdf-memory 19M")
    #expect(screen.contains("New passphrase for \(path): "))
    #expect(!screen.contains("correct horse"))
    #expect(
      screen.contains("vault: for servers there is a key file: vault add-key --key-file FILE"))
    #expect(
      screen.contains(
        "vault: hint: vault add-account --vault \(path) --type facebook --username NAME"
          + " --response FILE"))
    #expect(screen.hasSuffix("? 0 \n"), "\(screen)")
    let opened = try run(
      vault, key: false, "Passphrase=correct horse", "accounts --vault \(path)")
    #expect(opened.hasSuffix("? 0 \n"), "\(opened)")
    let wrong = try run(vault, key: false, "Passphrase=wrong horse", "accounts --vault \(path)")
    #expect(wrong.contains("does not open this vault"))
    #expect(wrong.hasSuffix("? 85 \n"), "\(wrong)")
  }

  @Test func `repeats the new passphrase until both are the same`() throws {
    let vault = try ScratchVault()
    let path = vault.directory("second/second.vault")
    let again = try run(
      vault, key: false, "New passphrase=one|again=two|New passphrase=one|again=one",
      "init --vault \(path) --no-recovery --kdf-memory 19M")
    #expect(again.contains("vault: the two are not the same"))
    #expect(again.hasSuffix("? 0 \n"), "\(again)")
    let never = try run(
      vault, key: false,
      "New passphrase=a|again=b|New passphrase=a|again=b|New passphrase=a|again=b",
      "init --vault \(path).2 --no-recovery")
    #expect(never.hasSuffix("? 84 \n"), "\(never)")
    #expect(!FileManager.default.fileExists(atPath: path + ".2"))
  }

  @Test func `says yes, no, or yes to some`() throws {
    let vault = try ScratchVault.filled()
    let ask = "request-access --type facebook --perms email,user_likes --app"
    let yes = try run(vault, "[y/n]=y", "\(ask) 1")
    #expect(yes.contains("App 1 asks for read permissions on facebook:lestat.ali:"), "\(yes)")
    #expect(yes.hasSuffix("? 0 \n"), "\(yes)")
    let no = try run(vault, "all of these=n|some of them=n", "\(ask) 2")
    #expect(no.hasSuffix("? 77 \n"), "\(no)")
    let some = try run(
      vault, "all of these=n|some of them=y|email=y|user_likes=n", "\(ask) 3 --json")
    #expect(
      some.contains(#""decision":"granted","granted":["email"],"declined":["user_likes"]"#),
      "\(some)")
    // What was decided is not asked again.
    #expect(try vault.run("\(ask) 2").status == .denied)
    #expect(try vault.run("\(ask) 1").status == .ok)
  }

  @Test func `is asked again where the first ask was killed`() throws {
    let vault = try ScratchVault.filled()
    let ask = "request-access --app 1 --type facebook --perms email"
    let killed = try run(vault, "[y/n]=!", ask)
    #expect(killed.hasSuffix("? -9 \n"), "\(killed)")
    let second = try run(vault, "[y/n]=y", ask)
    #expect(second.hasSuffix("? 0 \n"), "\(second)")
    let history = try vault.must("history --app 1 --json").output
    let events = history.split(separator: "\n").compactMap { line in
      line.split(separator: "\"").dropFirst(9).first.map(String.init)
    }
    #expect(
      events == ["app_added", "access_requested", "ask_interrupted", "access_requested", "granted"])
    #expect(try vault.must("asks").output.isEmpty)
  }
}
