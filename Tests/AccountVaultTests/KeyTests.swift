import AccountVault
import Foundation
import SQLite
import Testing

@Suite struct `A vault's keys` {
  private func open(_ place: Place, _ passphrase: String) throws -> Session {
    try Vault.open(at: place.path).unlock(
      with: .passphrase(.text(passphrase)), options: place.unlocking)
  }

  private func refused(_ place: Place, _ passphrase: String) -> VaultError.Code {
    let options = place.unlocking
    return refusal { () throws(VaultError) in
      try Vault.open(at: place.path).unlock(with: .passphrase(.text(passphrase)), options: options)
    }.code
  }

  @Test func `change with the passphrase: the old one is out, the new one is in`() throws {
    let place = try Place()
    do {
      let session = try Vault.create(
        at: place.path, passphrase: .text("old"), keyFile: .key(), options: place.creation
      ).takeSession()
      try session.addFacebook()
      let isScrubbed = try session.changePassphrase(to: .text("new"), cost: .cheap)
      #expect(isScrubbed)
      #expect(try session.keys().map(\.kind) == ["key_file", "passphrase"])
      #expect(
        refusal { () throws(VaultError) in
          try session.changePassphrase(to: .text(""), cost: .cheap)
        }.code == .usage)
      #expect(try session.entries(.keysChanged).map(\.reason) == ["passphrase changed"])
    }
    #expect(refused(place, "old") == .wrongKey)
    #expect(try open(place, "new").account("lestat").type == "facebook")
    #expect(try place.open().keys().count == 2)
  }

  @Test func `are never taken away to the last`() throws {
    let place = try Place()
    let session = try place.create()
    let last = refusal { () throws(VaultError) in try session.removeKey(1) }
    #expect(last.code == .usage)
    #expect(
      refusal { () throws(VaultError) in try session.removeKey(2) }.code == .notFound)
    let added = try session.addKeyFile(.key(8))
    #expect(added.number == 2)
    try session.removeKey(1)
    #expect(try session.keys().map(\.number) == [2])
    let options = place.unlocking
    #expect(
      refusal { () throws(VaultError) in
        try Vault.open(at: place.path).unlock(with: .keyFile(.key()), options: options)
      }.code == .wrongKey)
    _ = try Vault.open(at: place.path).unlock(with: .keyFile(.key(8)), options: options)
    #expect(
      refusal { () throws(VaultError) in try session.addKeyFile(.text("short")) }.code == .usage)
  }

  @Test func `gain a recovery code that opens`() throws {
    let place = try Place()
    let code: String
    do {
      let session = try place.create()
      let recovery = try session.addRecovery()
      code = recovery.code.shown
      #expect(recovery.key.kind == "recovery")
      #expect(try !session.entries().map { "\($0)" }.joined().contains(code))
    }
    #expect(try place.bytes().range(of: Data(code.utf8)) == nil)
    #expect(try open(place, code).keys().first(where: \.isInUse)?.kind == "recovery")
    // One letter off is no code at all.
    let last = code.hasSuffix("a") ? "b" : "a"
    #expect(refused(place, code.dropLast() + last) == .wrongKey)
  }

  @Test func `rotated seal every row and entry anew and leave nothing of the old`() throws {
    let place = try Place()
    var oldCode = ""
    do {
      var creation = place.creation
      creation.makesRecoveryCode = true
      var created = try Vault.create(
        at: place.path, passphrase: .text("words"), keyFile: .key(), options: creation)
      oldCode = created.recoveryCode.take()?.shown ?? ""
      try created.session.fill()
    }
    let session = try open(place, "words")
    let rows = [
      "account", "label", "credential", "client", "app", "standing", "ask", "definition",
    ]
    let sealed = try place.sealedBlobs(rows) + place.entryBodies()
    #expect(sealed.count > 30)
    let history = try session.entries()
    let checkpoint = try session.checkpoint().text
    let key = session.verifierKey
    var rotated = try session.rotateKey(with: .passphrase(.text("words")), cost: .cheap)
    let removed = rotated.removed
    #expect(removed.map(\.kind) == ["key_file", "recovery"])
    let isCompacted = rotated.isCompacted
    #expect(isCompacted)
    let newCode = rotated.recoveryCode.take()?.shown
    #expect(newCode != nil && newCode != oldCode)
    let bytes = try place.bytes()
    for blob in sealed { #expect(bytes.range(of: blob) == nil) }
    // What it says is the same, and so is the tree.
    #expect(try session.entries().dropLast() == history[...])
    #expect(session.verifierKey == key)
    #expect(try session.verify(against: checkpoint).stateMatches == true)
    #expect(try session.tokenText(app: "123", account: "facebook:lestat") == "EAA-token")
    #expect(try session.entries(.keysChanged).last?.reason == "new vault key")
    #expect(
      try session.entries(.keysChanged).last?.details.map(\.value) == [
        "2 key_file", "3 recovery",
      ])
    #expect(try session.keys().map(\.kind) == ["passphrase", "recovery"])
    #expect(try session.keys().first(where: \.isInUse)?.kind == "passphrase")
    #expect(refused(place, oldCode) == .wrongKey)
    let options = place.unlocking
    #expect(
      refusal { () throws(VaultError) in
        try Vault.open(at: place.path).unlock(with: .keyFile(.key()), options: options)
      }.code == .wrongKey)
    #expect(try open(place, newCode ?? "").verify().anchored)
    #expect(try open(place, "words").verify().anchored)
    // And once more, from the recovery code.
    let other = try open(place, newCode ?? "")
    let last = try other.rotateKey(with: .passphrase(.text(newCode ?? "")), cost: .cheap)
    let gone = last.removed.map(\.kind)
    #expect(gone == ["passphrase"])
    #expect(try other.keys().map(\.kind) == ["recovery"])
    #expect(try other.verify().anchored)
  }

  @Test func `are not rotated under a secret that opens nothing`() throws {
    let place = try Place()
    let session = try Vault.create(
      at: place.path, passphrase: .text("words"), keyFile: nil, options: place.creation
    ).takeSession()
    try session.addFacebook()
    try session.flush()
    let before = try place.bytes()
    for key in ["wrods", ""] {
      let error = refusal { () throws(VaultError) in
        try session.rotateKey(with: .passphrase(.text(key)), cost: .cheap)
      }
      #expect(error.code == .wrongKey)
    }
    let error = refusal { () throws(VaultError) in
      try session.rotateKey(with: .keyFile(.key()), cost: .cheap)
    }
    #expect(error.code == .wrongKey)
    #expect(try place.bytes() == before)
    // The session goes on.
    try session.addFacebook("louis")
    #expect(try session.verify().anchored)
    #expect(try open(place, "words").account("louis").type == "facebook")
  }

  @Test func `rotated by another process end this session, by name`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    _ = try session.tokenText()
    do {
      let other = try place.open()
      _ = try other.rotateKey(with: .keyFile(.key()), cost: .cheap)
    }
    let reading = refusal { () throws(VaultError) in try session.account("lestat") }
    #expect(reading.code == .tryAgain && reading.reason == .keysChanged)
    let token = refusal { () throws(VaultError) in try session.token(app: "123") }
    #expect(token.reason == .keysChanged)
    let writing = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["user_likes"]))
    }
    #expect(writing.reason == .keysChanged)
    let fresh = try place.open()
    #expect(try fresh.tokenText() == "EAA-token")
    #expect(try fresh.verify().anchored)
  }

  @Test func `on a full disk stay the old ones, and the session goes on`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.fill()
    }
    await #expect(processExitsWith: .success) {
      [path = place.path as String, heads = place.heads as String] in
      signal(SIGXFSZ, SIG_IGN)
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = SetClock().clock
      let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(1), &limit)
      limit.rlim_cur = rlim_t(try #require(log) + 4096)
      setrlimit(__rlimit_resource_t(1), &limit)
      let error = refusal { () throws(VaultError) in
        try session.rotateKey(with: .keyFile(.key()), cost: .cheap)
      }
      #expect(error.code == .io && error.reason == .diskFull)
      let refused = session.tokenTextOrRefusal()
      #expect(refused == .diskFull)
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(1), &limit)
      #expect(try session.verify().anchored)
      try session.addFacebook("after")
      _ = try session.changePassphrase(to: .text("words"), cost: .cheap)
      #expect(try session.verify().anchored)
      _ = try session.rotateKey(with: .keyFile(.key()), cost: .cheap)
      #expect(try session.verify().anchored)
    }
    #expect(try place.open().account("after").type == "facebook")
  }

  @Test func `that a reader still has in its log are told to be there`() throws {
    let place = try Place()
    let session = try Vault.create(
      at: place.path, passphrase: .text("old"), keyFile: nil, options: place.creation
    ).takeSession()
    let reader = try Connection.open(place.path, .readWrite)
    try reader.setDoNotCheckpointOnClose(true)
    try reader.execute("BEGIN")
    let select = try reader.prepare("SELECT count(*) FROM slot")
    #expect(try select.step())
    let early = try session.changePassphrase(to: .text("new"), cost: .cheap)
    #expect(!early)
    select.reset()
    try reader.execute("ROLLBACK")
    let late = try session.changePassphrase(to: .text("newer"), cost: .cheap)
    #expect(late)
  }

  @Test func `rotated twice in one session still fit`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.fill()
      for _ in 0..<2 { _ = try session.rotateKey(with: .keyFile(.key()), cost: .cheap) }
      try session.addFacebook("after")
      #expect(try session.verify().anchored)
    }
    #expect(try place.open().account("after").type == "facebook")
  }

  @Test func `killed in the middle of a rotation are the old ones, with every row`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.fill()
    }
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = place.path as String, heads = place.heads as String] in
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = SetClock().clock
      let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      // The first report comes from the sealing itself: a vault so small has none before.
      _ = try session.rotateKey(with: .keyFile(.key()), cost: .cheap) { done in
        if done > 0 { kill(getpid(), SIGKILL) }
      }
    }
    let session = try place.open()
    #expect(try session.entries(.keysChanged).isEmpty)
    #expect(try session.verify().anchored)
    _ = try session.rotateKey(with: .keyFile(.key()), cost: .cheap)
    #expect(try session.verify().anchored)
  }
}

extension Session {
  /// Why no token was handed out.
  fileprivate func tokenTextOrRefusal() -> VaultError.Reason {
    refusal { () throws(VaultError) in
      try token(app: "123", account: "facebook:lestat", strictly: true)
    }.reason
  }

  /// Something in every table.
  func fill() throws {
    try addFacebook()
    try addTwitter("lestat", id: "1")
    try addX()
    _ = try addClient(type: "facebook", clientID: "c", secret: .text("client-secret"))
    _ = try addApp("123", name: "Badger")
    _ = try grant(Decision(app: "123", permissions: ["publish_actions", "email"]))
    _ = try grant(Decision(app: "456", permissions: ["read"]))
    _ = try deny(Decision(app: "456", permissions: ["tweet.write"]))
    try addProvider(#"{"id":"mine","name":"Mine","extends":"facebook"}"#)
    let error = refusal { () throws(VaultError) in
      try requestAccess(
        AccessRequest(app: "789", type: "x", permissions: ["tweet.read"]), asker: .nobody)
    }
    #expect(error.code == .neverAsked)
  }
}

extension Place {
  /// The sealed bodies of the ledger, read by SQLite alone.
  func entryBodies() throws -> [Data] {
    let connection = try Connection.open(path, .readWrite)
    try connection.setDoNotCheckpointOnClose(true)
    let select = try connection.prepare("SELECT body FROM entry")
    var bodies: [Data] = []
    while try select.step() { bodies.append(Data(select.bytes(0))) }
    return bodies
  }
}
