import AccountVault
import Foundation
import Testing

@Suite struct `A backup` {
  @Test func `is a whole vault under the same key, to be verified and restored`() throws {
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
    let looked = try place.open(copy, looking: true)
    #expect(try looked.verify().root == made.root)
    // Used as it is, it would move the head of the vault that it was made of.
    let used = refusal { () throws(VaultError) in
      try Vault.open(at: copy).unlock(with: .keyFile(.key()), options: place.unlocking)
    }
    #expect(used.code == .usage)
    #expect(try session.tokenText(account: "facebook:lestat") == "EAA-token")
  }

  @Test func `put in the place of the vault ends the vault's own files`() throws {
    let place = try Place()
    let copy = place.directory("copy")
    do {
      let session = try place.create()
      try session.fill()
      try session.backUp(to: copy)
      _ = try session.revoke(Decision(app: "123", permissions: []))
    }
    let lost = place.directory("lost")
    try place.copy(place.path, to: lost)
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: place.path + suffix)
    }
    do {
      let restored = try Vault.restore(
        copy, to: place.path, with: .keyFile(.key()), options: place.unlocking,
        replacesVault: true)
      _ = try restored.verify()
    }
    try place.copy(lost, to: place.path)
    let error = #expect(throws: VaultError.self) { _ = try place.open() }
    #expect(error?.reason == .rolledBack)
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
