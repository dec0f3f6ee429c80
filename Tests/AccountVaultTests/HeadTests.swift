import AccountVault
import Foundation
import Store
import Testing

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
