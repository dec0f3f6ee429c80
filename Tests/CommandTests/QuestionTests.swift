import AccountVault
import Foundation
import Sodium
import Synchronization
import Testing

@testable import Command

@Suite(.serialized, .timeLimit(.minutes(1))) struct `A question` {
  let terminal: PseudoTerminal
  let invocation: Invocation

  init() throws {
    terminal = try PseudoTerminal()
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    invocation = Invocation(
      arguments: [], standardInput: null, standardOutput: null, standardError: null,
      terminalPath: terminal.path)
  }

  @Test func `for a secret shows nothing of what is typed`() throws {
    let echoed = Mutex(true)
    let terminal = self.terminal
    terminal.whenShown([
      (
        "Passphrase: ",
        {
          echoed.withLock { $0 = terminal.echoes }
          terminal.type("open sesame\n")
        }
      )
    ])
    #expect(terminal.echoes)
    let secret = try Question(invocation).secret("Passphrase: ")
    #expect(bytes(secret) == Array("open sesame".utf8))
    #expect(!echoed.withLock { $0 })
    #expect(terminal.echoes)
    #expect(terminal.screen == "Passphrase: \r\n")
  }

  @Test func `for a text shows it`() throws {
    let terminal = self.terminal
    terminal.whenShown([("Name: ", { terminal.type("lestat\n") })])
    #expect(try Question(invocation).text("Name: ") == "lestat")
    #expect(terminal.screen == "Name: lestat\r\n")
  }

  @Test func `takes a yes and a no, and asks again after anything else`() throws {
    let terminal = self.terminal
    terminal.whenShown([
      ("Sure? [y/n] ", { terminal.type("perhaps\n") }),
      ("Sure? [y/n] ", { terminal.type("YES\n") }),
      ("Sure? [y/n] ", { terminal.type("n\n") }),
    ])
    #expect(try Question(invocation).yes("Sure?"))
    #expect(try !Question(invocation).yes("Sure?"))
  }

  @Test func `has one of several chosen by its number`() throws {
    let terminal = self.terminal
    terminal.whenShown([
      ("Which? [1-2] ", { terminal.type("3\n") }), ("Which? [1-2] ", { terminal.type("2\n") }),
    ])
    #expect(try Question(invocation).choice("Which?", of: ["a\u{202e}b", "c"]) == 1)
    #expect(terminal.screen.contains("  1  a\\u{202E}b\r\n  2  c\r\n"))
  }

  @Test func `that is not answered ends at its deadline with the terminal as it was`() throws {
    var invocation = self.invocation
    invocation.questionTimeout = 200
    let start = ContinuousClock.now
    #expect(throws: CommandFailure(.locked, "the question was not answered in time")) {
      _ = try Question(invocation).secret("Passphrase: ")
    }
    #expect(ContinuousClock.now - start < .seconds(2))
    #expect(terminal.echoes)
  }

  @Test func `that is answered with the end of file is not answered`() throws {
    let terminal = self.terminal
    terminal.whenShown([("Passphrase: ", { terminal.type("\u{4}") })])
    #expect(throws: CommandFailure(.locked, "the question was not answered")) {
      _ = try Question(invocation).secret("Passphrase: ")
    }
    #expect(terminal.echoes)
  }

  @Test func `is put nowhere without a terminal, at once`() {
    var invocation = self.invocation
    for path in [nil, "/dev/null", "/nonexistent/tty"] {
      invocation.terminalPath = path
      let start = ContinuousClock.now
      #expect(throws: CommandFailure(.locked, "no terminal to ask on")) {
        _ = try Question(invocation)
      }
      #expect(ContinuousClock.now - start < .seconds(1))
    }
  }

  @Test func `is put nowhere in a session without a terminal, at once`() async {
    await #expect(processExitsWith: .exitCode(5)) {
      setsid()
      alarm(1)
      let invocation = Invocation(
        arguments: [], standardInput: 0, standardOutput: 1, standardError: 2,
        terminalPath: "/dev/tty")
      do {
        _ = try Question(invocation)
      } catch {
        _exit((error as? CommandFailure)?.status == .locked ? 5 : 6)
      }
    }
  }

  @Test func `is put nowhere by a process in the background, which a read would stop`() async {
    await #expect(processExitsWith: .exitCode(5)) {
      setsid()
      alarm(2)
      let terminal = try PseudoTerminal()
      // The first terminal that a session's leader opens becomes the session's.
      let own = open(terminal.path, O_RDWR)
      let invocation = Invocation(
        arguments: [], standardInput: 0, standardOutput: 1, standardError: 2,
        terminalPath: "/dev/tty")
      do {
        _ = try Question(invocation)
      } catch {
        _exit(7)
      }
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
      var other: pid_t = 0
      var arguments = [strdup("sleep"), strdup("5"), nil]
      posix_spawn(&other, "/bin/sleep", nil, &attributes, &arguments, nil)
      tcsetpgrp(own, other)
      do {
        _ = try Question(invocation)
        _exit(8)
      } catch {
        kill(other, SIGKILL)
        _exit((error as? CommandFailure)?.status == .locked ? 5 : 6)
      }
    }
  }

  @Test func `that a signal ends leaves the terminal as it was`() async {
    await #expect(processExitsWith: .exitCode(7)) {
      // The child's own handler sees the terminal in the moment in which the signal takes its course.
      let terminal = try PseudoTerminal()
      let null = open("/dev/null", O_RDWR)
      let invocation = Invocation(
        arguments: [], standardInput: null, standardOutput: null, standardError: null,
        terminalPath: terminal.path)
      keptTerminal.withLock { $0 = terminal }
      signal(SIGINT) { _ in
        let echoes = keptTerminal.withLock { $0?.echoes ?? false }
        _exit(echoes ? 7 : 8)
      }
      terminal.whenShown([
        (
          "Passphrase: ",
          {
            if terminal.echoes { _exit(9) }
            kill(getpid(), SIGINT)
          }
        )
      ])
      _ = try? Question(invocation).secret("Passphrase: ")
      // The thread that asked may block the signal, which another one then takes.
      sleep(5)
      _exit(10)
    }
  }

  @Test func `for a passphrase comes again after an empty one`() throws {
    let terminal = self.terminal
    terminal.whenShown([
      ("Passphrase for /v: ", { terminal.type("\n") }),
      ("Passphrase for /v: ", { terminal.type("open sesame\n") }),
    ])
    guard case .command(let parsed) = try ParsedLine.parse(["accounts"]) else { return }
    let quiet = Terminal(invocation, json: false, quiet: true, verbose: false)
    let context = Context(invocation, parsed, quiet)
    switch try context.secrets.key(forVaultAt: "/v") {
    case .passphrase(let secret): #expect(bytes(secret.bytes) == Array("open sesame".utf8))
    case .keyFile: Issue.record("a key file")
    case .lent: Issue.record("a lent key")
    }
  }

  @Test func `for a new passphrase is put twice, until both answers are the same`() throws {
    let terminal = self.terminal
    terminal.whenShown([
      ("New passphrase for /v: ", { terminal.type("one\n") }),
      ("The same again: ", { terminal.type("two\n") }),
      ("New passphrase for /v: ", { terminal.type("three\n") }),
      ("The same again: ", { terminal.type("three\n") }),
    ])
    guard case .command(let parsed) = try ParsedLine.parse(["init"]) else { return }
    let quiet = Terminal(invocation, json: false, quiet: true, verbose: false)
    let new = try Context(invocation, parsed, quiet).secrets.newSecrets(forVaultAt: "/v")
    switch new.passphrase {
    case .some(let secret): #expect(bytes(secret) == Array("three".utf8))
    case nil: Issue.record("no passphrase")
    }
  }

  @Test func `for an option is put where it was not given`() throws {
    let terminal = self.terminal
    terminal.whenShown([("--username, the name at the provider: ", { terminal.type("lestat\n") })])
    guard case .command(let parsed) = try ParsedLine.parse(["add-account", "--type", "x"]) else {
      return
    }
    let quiet = Terminal(invocation, json: false, quiet: true, verbose: false)
    var context = Context(invocation, parsed, quiet)
    #expect(try context.need("type") == "x")
    #expect(try context.need("username") == "lestat")

    var nobody = invocation
    nobody.terminalPath = nil
    context = Context(nobody, parsed, quiet)
    #expect(
      throws: CommandFailure(
        .usage, "add-account: --username is missing", hint: "vault help add-account")
    ) {
      try context.need("username")
    }
  }
}

/// For a signal handler, which captures nothing.
private let keptTerminal = Mutex<PseudoTerminal?>(nil)
