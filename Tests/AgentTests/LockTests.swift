import Encoding
import Foundation
import Sodium
import TestSupport
import Testing

@testable import AccountVault
@testable import Store

/// A running agent that is locked and unlocked.
@Suite(.serialized) struct `A running agent` {
  @Test func `locks after the times that it was told`() throws {
    let home = try AgentHome()
    for (option, reason) in [("--lock-after", "idle"), ("--lock-at-most", "lifetime")] {
      let agent = try home.startReady(home.withPassphrase + [option, "1s"])
      #expect(try agent.lockReason() == reason)
      #expect(waits { agent.log.contains("locked reason=\(reason)") }, "\(agent.log)")
      #expect(agent.isRunning)
      agent.kill()
    }
    let wrong = try home.start(home.withPassphrase + ["--lock-after", "soon"])
    #expect(wrong.end() == 64)
  }

  @Test func `locks by itself where a person unlocked it, and not where a file did`() throws {
    let home = try AgentHome()
    let credentials = home.directory("credentials")
    try FileManager.default.createDirectory(
      atPath: credentials, withIntermediateDirectories: false)
    try AgentHome.write("\(AgentHome.passphrase)\n", to: credentials + "/vault.passphrase")
    let person = try home.startReady(home.withPassphrase)
    let until = try #require(try person.status()["locks_at"] as? String)
    let seconds = try #require(try? Date(until, strategy: .iso8601)).timeIntervalSinceNow
    #expect((590...601).contains(seconds), "\(seconds)")
    person.kill()
    let never = try home.startReady(
      home.withPassphrase + ["--lock-after", "never", "--lock-at-most", "never"])
    #expect(try never.status()["locks_at"] is NSNull)
    never.kill()
    let file = try home.startReady(home.withKeyFile)
    #expect(try file.status()["locks_at"] is NSNull)
    file.signal(SIGUSR1)
    #expect(try file.lockReason() == "signal")
    #expect(try file.unlock(AgentHome.passphrase).status == 200)
    #expect(try file.status()["locks_at"] is String)
    file.kill()
    let service = try home.startReady(environment: ["CREDENTIALS_DIRECTORY": credentials])
    #expect(try service.status()["state"] as? String == "unlocked")
    #expect(try service.status()["locks_at"] is NSNull)
    service.kill()
  }

  @Test func `starts locked without a key, and locks on the owner's word and on signals`() throws {
    let home = try AgentHome()
    let agent = try home.startReady()
    #expect(try agent.status()["state"] as? String == "locked")
    #expect(try agent.status()["reason"] as? String == "start")
    for signal in [SIGUSR1, SIGHUP] {
      #expect(try agent.unlock(AgentHome.passphrase).status == 200)
      #expect(try agent.status()["state"] as? String == "unlocked")
      agent.signal(signal)
      #expect(try agent.lockReason() == "signal")
    }
    #expect(try agent.unlock(AgentHome.passphrase).status == 200)
    #expect(try agent.ask("POST", "/v1/lock").status == 200)
    #expect(try agent.status()["reason"] as? String == "owner")
    #expect(agent.isRunning)
  }

  /// B86.
  @Test func `tells locked, a wrong passphrase and damage apart, and writes nothing`() throws {
    let home = try AgentHome()
    let agent = try home.startReady(home.withPassphrase)
    #expect(try agent.ask("POST", "/v1/lock").status == 200)
    let app = try askSocket(home.place("apps.sock"), "GET", "/v1/app")
    #expect(app.status == 503 && app.text.contains(#""code":"locked""#), "\(app.text)")
    func files() throws -> [String: Data] {
      var all: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: home.directory.path)
      where name.hasPrefix("v.vault") && !name.hasSuffix("-shm") {
        all[name] = FileManager.default.contents(atPath: home.directory(name))
      }
      return all
    }
    let before = try files()
    for _ in 0..<3 {
      let refused = try agent.unlock("wrong")
      #expect(refused.status == 403)
      #expect(refused.text.contains(#""code":"wrong_key""#), "\(refused.text)")
    }
    #expect(try files() == before)
    #expect(try agent.status()["state"] as? String == "locked")
    #expect(try agent.ask("POST", "/v1/unlock", body: [1, 2, 3]).status == 400)
    #expect(try agent.unlock(AgentHome.passphrase).status == 200)
    // A wrong one does not lock what is unlocked.
    #expect(try agent.unlock("wrong").status == 403)
    #expect(try agent.status()["state"] as? String == "unlocked")
    agent.kill()
    try AgentHome.write(String(repeating: "x", count: 5000), to: home.vaultPath)
    let damaged = try home.start(home.withPassphrase)
    #expect(damaged.end() == 65, "\(damaged.log)")
  }

  @Test func `locks when the login session from which it was started is over`() throws {
    let home = try AgentHome()
    // Leads a session, tells its number, starts the agent in it, and stays.
    let leader = [
      "/usr/bin/perl", "-MPOSIX", "-e",
      """
      alarm 600;
      if (fork()) { sleep 600; exit }
      setsid();
      open(my $f, '>', 'leader.new'); print $f $$; close $f; rename 'leader.new', 'leader';
      if (fork()) { sleep 600; exit }
      exec @ARGV; exit 127
      """,
    ]
    for options in [[], ["--background"]] {
      let session = try home.start(home.withKeyFile + options, through: leader)
      #expect(
        waits { (try? session.status()["state"] as? String) == "unlocked" }, "\(session.log)")
      let number = try #require(
        Int32(String(contentsOfFile: home.directory("leader"), encoding: .utf8)))
      #expect(kill(number, SIGKILL) == 0)
      #expect(try session.lockReason() == "session")
      let agent = try home.holder()
      #expect(kill(agent, SIGTERM) == 0)
      #expect(waits { !FileManager.default.fileExists(atPath: session.owner) })
      session.kill()
    }
  }

  @Test func `meets a new key: locked where a person must unlock it, else unlocked anew`() throws {
    let home = try AgentHome()
    let person = try home.startReady(home.withPassphrase)
    try home.vault(["rotate-key"], unlocking: home.withPassphrase)
    // A look at the vault, such as each scrape is.
    #expect(try person.ask("GET", "/v1/metrics").status == 200)
    #expect(try person.lockReason() == "keys")
    #expect(try person.unlock(AgentHome.passphrase).status == 200)
    person.kill()
    let other = try AgentHome()
    let file = try other.startReady(other.withKeyFile)
    try other.vault(["rotate-key"])
    #expect(try file.ask("GET", "/v1/metrics").status == 200)
    #expect(waits { file.log.contains("locked reason=keys") })
    #expect(try waits { try file.status()["state"] as? String == "unlocked" }, "\(file.log)")
    #expect(try file.ask("GET", "/v1/metrics").text.contains("vault_agent_ledger_entries"))
  }

  /// SECURITY row 14: nothing of the keys is left once it is locked.
  @Test func `has no key and no token in its memory once it is locked`() throws {
    let home = try AgentHome()
    let token = Self.words("canary-token-")
    let server = try ScriptedServer { _, _ in
      .json(
        #"{"access_token":"\#(token)","token_type":"bearer","expires_in":3600,"#
          + #""refresh_token":"\#(token)-refresh"}"#)
    }
    try home.addAccount(url: server.url, expiresIn: 1)
    // Opening it here for its key leaves the agent's own memory alone.
    var options = Vault.UnlockOptions()
    options.headDirectory = home.directory("state/vault")
    options.isLooking = true
    let session = try Vault.open(at: home.vaultPath).unlock(
      with: .keyFile(Secret(try Self.secret(home.directory("key")))), options: options)
    let vaultKey = session.store.unlockedKey.key.bytes.withBytes { span in
      span.withUnsafeBytes { Array($0) }
    }
    let keyFile = Array(try #require(FileManager.default.contents(atPath: home.directory("key"))))
    let agent = try home.startReady(home.withKeyFile)
    #expect(waits { agent.log.contains("outcome=renewed") }, "\(agent.log)")
    let process = agent.processIdentifier
    guard geteuid() == 0 else {
      // The kernel keeps it from its own user, as row 6 asks.
      #expect(open("/proc/\(process)/mem", O_RDONLY) < 0)
      return
    }
    // What must be there while it is unlocked, so that the search is known to find something.
    #expect(try MemorySearch.occurrences(of: vaultKey, in: process) > 0)
    #expect(try agent.unlock(AgentHome.passphrase).status == 200)
    #expect(try agent.ask("POST", "/v1/lock").status == 200)
    let secrets: [(String, [UInt8])] = [
      ("vault key", vaultKey), ("key file", keyFile), ("token", Array(token.utf8)),
      ("passphrase", Array(AgentHome.passphrase.utf8)),
    ]
    for (name, secret) in secrets {
      var left = 0
      #expect(
        try waits(20) {
          left = try MemorySearch.occurrences(of: secret, in: process)
          return left == 0
        }, "\(name): \(left)")
    }
    // It lives, and its memory is still searched: a text of its program's own is there.
    #expect(try MemorySearch.occurrences(of: Array(home.vaultID.utf8), in: process) > 0)
    #expect(try agent.status()["state"] as? String == "locked")
  }

  static func words(_ start: String) -> String {
    start
      + (0..<24).map { _ in String(Character(Unicode.Scalar(UInt8.random(in: 97...122)))) }.joined()
  }

  static func secret(_ path: String) throws -> SecretBytes {
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    return SecretBytes(wiping: &bytes)
  }
}

/// Looks for bytes in the memory of another process, as root may.
enum MemorySearch {
  static func occurrences(of needle: [UInt8], in process: Int32) throws -> Int {
    let handle = FileHandle(forReadingAtPath: "/proc/\(process)/maps")
    let maps = String(decoding: try handle?.readToEnd() ?? Data(), as: UTF8.self)
    try #require(maps.contains("[stack]"))
    let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    var count = 0
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    for line in maps.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // Secrets stand on pages that the process itself may not read meanwhile.
      guard fields[1].hasPrefix("rw") || fields[1].hasPrefix("---") else { continue }
      let range = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      var start = range[0]
      while start < range[1] {
        let size = pread(
          memory, &chunk, min(chunk.count, Int(range[1] - start)), off_t(Int64(bitPattern: start)))
        guard size >= needle.count else {
          // A page that cannot be read.
          start = (start / 4096 + 1) * 4096
          continue
        }
        count += occurrences(of: needle, in: chunk, size)
        // So much of the end is read again that none is cut in two.
        start += UInt64(size == chunk.count ? size - needle.count + 1 : size)
      }
    }
    return count
  }

  private static func occurrences(of needle: [UInt8], in chunk: [UInt8], _ size: Int) -> Int {
    // Zeros are everywhere.
    let anchor = needle.firstIndex { $0 != 0 } ?? 0
    return chunk.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      var count = 0
      var next = anchor
      let end = size - needle.count + anchor + 1
      while next < end, let found = memchr(start + next, Int32(needle[anchor]), end - next) {
        let place = UnsafeRawPointer(found) - start
        if memcmp(start + place - anchor, needle, needle.count) == 0 { count += 1 }
        next = place + 1
      }
      return count
    }
  }
}
