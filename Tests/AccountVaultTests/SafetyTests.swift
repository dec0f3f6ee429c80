import AccountVault
import Foundation
import Store
import TestSupport
import Testing
import Time

@Suite struct `A backup` {
  @Test func `is a whole vault that opens with the same key`() throws {
    let place = try Place()
    let session = try place.create()
    try session.fill()
    let copy = place.directory("copy")
    let made = try session.backUp(to: copy)
    #expect(made.entries == (try session.entryCount()))
    #expect(made.root == (try session.verify().root))
    #expect(try place.directory.names().filter { $0.hasPrefix("copy") } == ["copy"])
    let taken = refusal { () throws(VaultError) in try session.backUp(to: copy) }
    #expect(taken.code == .exists)
    let opened = try place.open(copy)
    #expect(try opened.tokenText(account: "facebook:lestat") == "EAA-token")
  }

  @Test func `that cannot be written leaves nothing behind`() throws {
    let place = try Place()
    let session = try place.create()
    let error = refusal { () throws(VaultError) in
      try session.backUp(to: place.directory("no/such/directory/copy"))
    }
    #expect([.io, .notFound].contains(error.code))
    #expect(try place.directory.names().allSatisfy { !$0.contains("copy") && $0 != "no" })
  }

  @Test func `made while another process writes is one state of the vault`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
    }
    async let writer: Void = writeMuch(place, app: "busy", count: 400)
    var sizes: [UInt64] = []
    do {
      let session = try place.open()
      while try session.entryCount() < 10 { usleep(1000) }
      for number in 0..<5 {
        let made = try session.backUp(to: place.directory("copy-\(number)"))
        sizes.append(made.entries)
      }
    }
    _ = await writer
    #expect(sizes == sizes.sorted())
    #expect(Set(sizes).count > 1)
    for (number, size) in sizes.enumerated() {
      var options = place.unlocking
      options.isLooking = true
      options.headDirectory = place.directory("none")
      let copy = try Vault.open(at: place.directory("copy-\(number)")).unlock(
        with: .keyFile(.key()), options: options)
      #expect(try copy.verify().entries == size)
    }
  }

  @Test func `restored is a new branch that says so, beside a vault that still works`() throws {
    let place = try Place()
    let copy = place.directory("copy")
    let other = place.directory("restored.vault")
    let session = try place.create()
    let account = try session.addX(token: "one")
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    _ = try session.tokenText()
    let made = try session.backUp(to: copy)
    let before = try Data(contentsOf: URL(filePath: copy))
    for number in 0..<4 { try session.addX(token: "newer-\(number)") }
    _ = try session.tokenText()

    let options = place.unlocking
    let taken = refusal { () throws(VaultError) in
      try Vault.restore(copy, to: place.path, with: .keyFile(.key()), options: options)
    }
    #expect(taken.code == .exists)
    let wrong = refusal { () throws(VaultError) in
      try Vault.restore(copy, to: other, with: .keyFile(.key(9)), options: options)
    }
    #expect(wrong.code == .wrongKey)
    #expect(try place.directory.names().allSatisfy { !$0.hasPrefix("restored") })
    do {
      let restored = try Vault.restore(copy, to: other, with: .keyFile(.key()), options: options)
      #expect(try Data(contentsOf: URL(filePath: copy)) == before)
      #expect(restored.vaultID == session.vaultID)
      #expect(restored.verifierKey.name != session.verifierKey.name)
      let entry = try #require(try restored.entries(.restored).first)
      #expect(entry.number == made.entries)
      #expect(entry.detail("old_size") == String(made.entries))
      #expect(entry.detail("old_root") == made.root)
      #expect(entry.detail("old_branch") == session.vaultID)
      // The refresh token may have been spent: the token that is there still holds.
      #expect(try restored.standing(of: account).credentials.map(\.state) == [.stale])
      #expect(try restored.staleCredentialCount() == 1)
      #expect(try restored.standing(of: account).credentials[0].credential.generation == 1)
      #expect(try restored.tokenText() == "one")
      place.clock.advance(7200)
      let ended = refusal { () throws(VaultError) in try restored.token(app: "123") }
      #expect(ended.code == .signIn)
      place.clock.advance(-7200)
      #expect(try restored.verify().anchored)
    }
    let reopened = try place.open(other)
    #expect(reopened.warnings.isEmpty)
    // A sign-in ends the doubt.
    try reopened.addX(token: "signed-in")
    #expect(try reopened.standing(of: account).credentials.map(\.state) == [.valid])
    #expect(try session.verify().anchored)
    #expect(try session.tokenText() == "newer-3")
    #expect(try place.open().verify().anchored)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.heads).filter {
        $0.hasSuffix(".head")
      }.count == 2)
  }

  @Test func `whose head has a path of its own is restored beside its vault too`() throws {
    let place = try Place()
    var creation = place.creation
    creation.anchorPath = place.directory("disk/head")
    let session = try Vault.create(
      at: place.path, passphrase: nil, keyFile: .key(), options: creation
    ).takeSession()
    try session.addFacebook()
    try session.backUp(to: place.directory("copy"))
    for number in 0..<3 { try session.addFacebook("later-\(number)") }
    try session.flush()
    let restored = try Vault.restore(
      place.directory("copy"), to: place.directory("restored"), with: .keyFile(.key()),
      options: place.unlocking)
    #expect(try restored.verify().anchored)
    #expect(try session.verify().anchored)
    try session.addFacebook("and-on")
    try session.flush()
    #expect(try restored.verify().anchored)
  }

  @Test func `of a credential that does not end by itself stays usable`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      _ = try session.addAccount(
        NewAccount(type: "weibo", username: "w"),
        credential: .response(.text(#"{"access_token":"t","refresh_token":"r"}"#)))
      _ = try session.grant(Decision(app: "123", permissions: ["email"]))
      try session.backUp(to: place.directory("copy"))
    }
    let restored = try Vault.restore(
      place.directory("copy"), to: place.directory("restored"), with: .keyFile(.key()),
      options: place.unlocking)
    #expect(try restored.staleCredentialCount() == 1)
    #expect(try restored.tokenText() == "t")
  }

  @Test func `is not a vault in use, nor another file`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let options = place.unlocking
    let path = place.path
    let target = place.directory("restored")
    let inUse = refusal { () throws(VaultError) in
      try Vault.restore(path, to: target, with: .keyFile(.key()), options: options)
    }
    #expect(inUse.code == .damaged)
    try Data("hello".utf8).write(to: URL(filePath: place.directory("text")))
    for (name, code) in [("text", VaultError.Code.damaged), ("missing", .notFound)] {
      let file = place.directory(name)
      let error = refusal { () throws(VaultError) in
        try Vault.restore(file, to: target, with: .keyFile(.key()), options: options)
      }
      #expect(error.code == code)
    }
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  @Test func `with one bit changed is not restored`() throws {
    let place = try Place()
    let copy = place.directory("copy")
    do {
      let session = try place.create()
      try session.fill()
      try session.backUp(to: copy)
    }
    let good = try Data(contentsOf: URL(filePath: copy))
    let options = place.unlocking
    for offset in stride(from: 4096 * 3 + 4000, to: good.count, by: 4096 * 3) {
      var bad = good
      bad[offset] ^= 1
      try bad.write(to: URL(filePath: copy))
      let target = place.directory("restored-\(offset)")
      do throws(VaultError) {
        // Only free space of a page may change without a word.
        let restored = try Vault.restore(
          copy, to: target, with: .keyFile(.key()), options: options)
        #expect(try restored.verify().anchored)
      } catch {
        #expect(error.code == .damaged, "\(offset)")
        #expect(!FileManager.default.fileExists(atPath: target))
      }
    }
  }
}

@Suite struct `The head outside the file` {
  @Test func `finds an older copy, which can be looked at and accepted`() throws {
    let place = try Place()
    let old = place.directory("old")
    let new = place.directory("new")
    do {
      let session = try place.create()
      try session.addFacebook()
      _ = try session.grant(Decision(app: "123", permissions: ["email"]))
      try session.flush()
      try place.copy(place.path, to: old)
      _ = try session.revoke(Decision(app: "123", permissions: ["email"]))
      try session.addX()
    }
    try place.copy(place.path, to: new)
    try place.copy(old, to: place.path)
    let options = place.unlocking
    let path = place.path
    func refused() -> VaultError {
      refusal { () throws(VaultError) in
        try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      }
    }
    #expect(refused().code == .damaged && refused().reason == .rolledBack)
    do {
      let looking = try place.open(looking: true)
      #expect(try looking.entries(.granted).count == 1)
      #expect(
        refusal { () throws(VaultError) in try looking.verify() }.reason == .rolledBack)
      #expect(
        refusal { () throws(VaultError) in try looking.token(app: "123") }.code == .usage)
    }
    #expect(refused().reason == .rolledBack)
    do {
      let looking = try place.open(looking: true)
      try looking.resetAnchor(reason: "on purpose")
      let entry = try #require(try looking.entries(.anchorReset).last)
      #expect(entry.reason == "on purpose")
      #expect(entry.detail("old_size") == String(entry.number))
    }
    do {
      let session = try place.open()
      #expect(session.warnings.isEmpty)
      #expect(try session.verify().anchored)
      #expect(session.verifierKey.name != "vault/\(session.vaultID)/\(session.vaultID)")
    }
    // The branch that was left behind is closed, at its newest too.
    try place.copy(new, to: place.path)
    #expect(refused().reason == .rolledBack)
  }

  @Test func `finds that a file is put back while a session is open`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    try session.flush()
    let options = place.unlocking
    let old = place.directory("old")
    try place.copy(place.path, to: old)
    _ = try session.revoke(Decision(app: "123", permissions: ["email"]))
    try session.flush()
    // Another vault file of the same id, older than the head.
    let error = refusal { () throws(VaultError) in
      try Vault.open(at: old).unlock(with: .keyFile(.key()), options: options)
    }
    #expect(error.reason == .rolledBack)
  }

  @Test func `finds two files that went on apart`() throws {
    let place = try Place()
    let copy = place.directory("copy")
    do {
      let session = try place.create()
      try session.addFacebook()
      try session.flush()
      try place.copy(place.path, to: copy)
      try session.addFacebook("here")
    }
    var elsewhere = place.unlocking
    elsewhere.headDirectory = place.directory("elsewhere")
    do {
      let session = try Vault.open(at: copy).unlock(with: .keyFile(.key()), options: elsewhere)
      for number in 0..<3 { try session.addFacebook("there-\(number)") }
    }
    let options = place.unlocking
    let error = refusal { () throws(VaultError) in
      try Vault.open(at: copy).unlock(with: .keyFile(.key()), options: options)
    }
    #expect(error.code == .damaged && error.reason == .forked)
    #expect(try place.open().verify().anchored)
  }

  @Test func `that was lost is taken anew with a warning and an entry`() throws {
    let place = try Place()
    do { _ = try place.create() }
    try FileManager.default.removeItem(atPath: place.heads)
    do {
      let looking = try place.open(looking: true)
      #expect(try !looking.verify().anchored)
      #expect(looking.warnings.isEmpty)
    }
    #expect(!FileManager.default.fileExists(atPath: place.heads))
    do {
      let session = try place.open()
      #expect(session.warnings.count == 1)
      #expect(try session.entries(.anchorReset).count == 1)
      #expect(try session.verify().anchored)
    }
    let again = try place.open()
    #expect(again.warnings.isEmpty)
    #expect(try again.entries(.anchorReset).count == 1)
  }

  @Test func `that is required is not missed`() throws {
    var place = try Place()
    place.anchor = .required
    do { _ = try place.create() }
    do { #expect(try place.open().verify().anchored) }
    try FileManager.default.removeItem(atPath: place.heads)
    let options = place.unlocking
    let path = place.path
    let error = refusal { () throws(VaultError) in
      try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
    }
    #expect(error.code == .damaged && error.reason == .anchorMissing)
    do {
      let looking = try place.open(looking: true)
      #expect(try looking.entries().count == 1)
      #expect(
        refusal { () throws(VaultError) in try looking.verify() }.reason == .anchorMissing)
      try looking.resetAnchor()
    }
    #expect(try place.open().verify().anchored)
  }

  @Test func `that none is wanted of is not written`() throws {
    var place = try Place()
    place.anchor = .none
    do { try place.create().addFacebook() }
    #expect(try place.directory.names().filter { $0.hasPrefix("state") }.isEmpty)
    let session = try place.open()
    #expect(session.warnings.isEmpty)
    #expect(try !session.verify().anchored)
  }

  @Test func `that is damaged refuses, and half of it does not`() throws {
    let place = try Place()
    let head: String
    do {
      let session = try place.create()
      head = place.heads + "/\(session.vaultID).head"
      for number in 0..<3 {
        try session.addFacebook("user-\(number)")
        try session.flush()
      }
    }
    let good = try Data(contentsOf: URL(filePath: head))
    #expect(good.count == 1024)
    for torn in [0..<512, 512..<1024] {
      var half = good
      half.replaceSubrange(torn, with: Data(repeating: 0xff, count: 512))
      try half.write(to: URL(filePath: head))
      #expect(try place.open().verify().anchored)
    }
    let options = place.unlocking
    let path = place.path
    for bad in [Data(), Data(repeating: 0, count: 1024), Data(good.dropFirst(1)), good.prefix(511)]
    {
      try bad.write(to: URL(filePath: head))
      let error = refusal { () throws(VaultError) in
        try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      }
      #expect(error.code == .damaged && error.reason == .damagedAnchor)
      #expect(try place.open(looking: true).entries().count == 4)
    }
    do { try place.open(looking: true).resetAnchor() }
    #expect(try place.open().verify().anchored)
  }

  @Test func `after a write that failed says what the file says`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
      // Committed, its head not yet written; then a refusal in the middle of a write.
      let error = refusal { () throws(VaultError) in
        try session.grant(Decision(app: "123", permissions: ["none"]))
      }
      #expect(error.code == .usage)
    }
    #expect(try place.open().verify().anchored)
  }

  @Test func `of a vault from another machine is not refused, and the owner is told`() throws {
    let place = try Place()
    do {
      _ = try VaultCreation(
        passphrase: nil, keyFile: .init(copying: [UInt8](repeating: 7, count: 32).span.bytes),
        recovery: nil, cost: KeyCost(memoryBytes: 8 << 20),
        machine: Array("another machine".utf8), day: 0
      ).make(at: place.path) { (_) throws(VaultError) in }
    }
    let hasMachineID = FileManager.default.contents(atPath: "/etc/machine-id")?.count ?? 0 >= 32
    do {
      let session = try place.open()
      let isMoved = session.isMoved
      #expect(isMoved == hasMachineID)
      #expect(session.warnings.contains { $0.contains("another machine") } == hasMachineID)
      try session.resetAnchor()
      let isStillMoved = session.isMoved
      #expect(!isStillMoved)
    }
    let isMoved = try place.open().isMoved
    #expect(!isMoved)
  }
}

@Suite struct `Two processes` {
  @Test func `writing at once wait for each other and lose no entry`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
    }
    async let one: Void = writeMuch(place, app: "one", count: 60)
    async let two: Void = writeMuch(place, app: "two", count: 60)
    do {
      let session = try place.open()
      for number in 0..<60 {
        let decision = Decision(app: "three", permissions: ["email"])
        _ = number % 2 == 0 ? try session.grant(decision) : try session.deny(decision)
      }
    }
    _ = await (one, two)
    let session = try place.open()
    let result = try session.verify()
    #expect(result.anchored && result.stateMatches == true)
    // Made, an account, three apps; then everybody's decisions.
    #expect(result.entries == 2 + 3 + 180)
    for app in ["one", "two", "three"] {
      #expect(try session.entries().filter { $0.app == app }.count == 61)
      #expect(try session.states(app: app) == ["email": .denied])
    }
  }

  @Test func `are not kept waiting for ever by a third`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let other = try place.holdWriteLock()
    let error = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["email"]))
    }
    #expect(error.code == .tryAgain && error.reason == .busy)
    // Reading waits for nobody.
    #expect(try session.account("lestat").type == "facebook")
    try other.execute("ROLLBACK")
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
  }

  @Test func `see each other's work at once`() throws {
    let place = try Place()
    let one = try place.create()
    let two = try place.open()
    for number in 0..<20 {
      try one.addFacebook("one-\(number)")
      #expect(try two.account("one-\(number)").type == "facebook")
      try two.addFacebook("two-\(number)")
      #expect(try one.account("two-\(number)").type == "facebook")
    }
    #expect(try one.verify().anchored)
    #expect(try two.verify().anchored)
  }

  @Test func `have a definition that the other replaced`() throws {
    let place = try Place()
    let one = try place.create()
    let two = try place.open()
    try one.addProvider(#"{"id":"mine","name":"First","extends":"facebook"}"#)
    #expect(try two.provider("mine").name == "First")
    try one.addProvider(#"{"id":"mine","name":"Second","extends":"facebook"}"#)
    #expect(try two.provider("mine").name == "Second")
  }
}

/// A process of its own that grants and denies, turn about.
func writeMuch(_ place: Place, app: String, count: Int) async {
  await #expect(processExitsWith: .success) {
    [
      path = place.path as String, heads = place.heads as String, app = app as String,
      count = count as Int
    ] in
    var options = Vault.UnlockOptions()
    options.headDirectory = heads
    options.clock = SetClock().clock
    let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
    for number in 0..<count {
      let decision = Decision(app: app, permissions: ["email"])
      _ = number % 2 == 0 ? try session.grant(decision) : try session.deny(decision)
    }
  }
}
