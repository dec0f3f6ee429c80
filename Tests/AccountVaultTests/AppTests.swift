import Foundation
import Testing

@testable import AccountVault

@Suite struct `An app` {
  @Test func `has a key that is shown once, and no other is its own`() throws {
    let place = try Place()
    let key: String
    do {
      let session = try place.create()
      let added = try session.addApp("123", name: "Badger")
      key = added.key.shown
      #expect(key.hasPrefix("vapp_") && key.count == 61)
      let other = try session.addApp("456", name: "Other").key.shown
      #expect(try session.isKey(.text(key), of: "123"))
      #expect(try !session.isKey(.text(other), of: "123"))
      #expect(try !session.isKey(.text(key), of: "456"))
      #expect(try !session.isKey(.text(key), of: "789"))
      #expect(try !session.isKey(.text(key), of: "no id"))
      #expect(try !session.isKey(.text(key.uppercased()), of: "123"))
      #expect(try !session.isKey(.text(""), of: "123"))
    }
    // Of the key the file knows a hash under a key of its own.
    let bytes = try place.bytes()
    #expect(bytes.range(of: Data(key.utf8)) == nil)
    let session = try place.open()
    #expect(try session.isKey(.text(key), of: "123"))
    let twice = refusal { () throws(VaultError) in try session.addApp("123", name: "Badger") }
    #expect(twice.code == .exists)
  }

  @Test func `that a grant recorded has no key, gets one later and keeps its grants`() throws {
    let session = try Place().create()
    try session.addFacebook()
    #expect(
      try session.grant(Decision(app: "123", permissions: ["email"])).recordedApp)
    #expect(
      try !session.grant(Decision(app: "123", permissions: ["user_likes"])).recordedApp)
    #expect(try !session.app("123").hasKey)
    let key = try session.addApp("123", name: "Badger", signOnly: false).key.shown
    #expect(try session.app("123").hasKey)
    #expect(try session.app("123").name == "Badger")
    #expect(try session.isKey(.text(key), of: "123"))
    #expect(try session.tokenText(["email"]) == "EAA-token")
  }

  @Test func `given a new key is not opened by the old one`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let old = try session.addApp("123", name: "Badger").key.shown
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    let new = try session.newAppKey("123").shown
    #expect(try !session.isKey(.text(old), of: "123"))
    #expect(try session.isKey(.text(new), of: "123"))
    // It is the owner who said that it is the same program.
    #expect(try session.states() == ["email": .granted])
    #expect(try session.entries(.appKeyChanged).map(\.app) == ["123"])
    #expect(
      refusal { () throws(VaultError) in try session.newAppKey("456") }.code == .notFound)
  }

  @Test func `registered anew by somebody else inherits nothing`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let old = try session.addApp("123", name: "Badger").key.shown
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    try session.removeApp("123")
    #expect(
      refusal { () throws(VaultError) in try session.token(app: "123") }.code == .notFound)
    _ = try session.addApp("123", name: "Badger")
    #expect(try session.states() == [:])
    #expect(try !session.isKey(.text(old), of: "123"))
    #expect(
      refusal { () throws(VaultError) in try session.token(app: "123", permissions: ["email"]) }
        .code == .neverAsked)
    _ = try session.verify()
  }

  @Test func `that only signs is never handed a token, whatever it was granted`() throws {
    let session = try Place().create()
    try session.addFacebook()
    _ = try session.addApp("123", name: "Badger", signOnly: true)
    #expect(
      refusal { () throws(VaultError) in try session.token(app: "123", permissions: ["email"]) }
        .code == .neverAsked)
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    let error = refusal { () throws(VaultError) in
      try session.token(app: "123", permissions: ["email"])
    }
    #expect(error.code == .denied && error.reason == .signOnly)
    #expect(try session.entries(.useRefused).count == 2)
    #expect(try session.entries(.tokenUsed).isEmpty)
  }

  @Test func `that only signs may have requests signed, by the rules of every app`() throws {
    let session = try Place().create()
    let account = try session.addFacebook()
    _ = try session.addApp("123", name: "Badger", signOnly: true)
    func allowed(_ purpose: Session.Purpose) throws(VaultError) {
      _ = try session.store.read { () throws(VaultError) in
        try session.allowed(app: "123", on: account, permissions: ["email"], for: purpose)
      }
    }
    #expect(refusal { () throws(VaultError) in try allowed(.signedRequest) }.code == .neverAsked)
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    try allowed(.signedRequest)
    #expect(refusal { () throws(VaultError) in try allowed(.token) }.reason == .signOnly)
    _ = try session.deny(Decision(app: "123", permissions: ["email"]))
    #expect(refusal { () throws(VaultError) in try allowed(.signedRequest) }.code == .denied)
  }

  @Test func `names clients that are there, one of a type`() throws {
    let session = try Place().create()
    _ = try session.addClient(type: "facebook", clientID: "a")
    _ = try session.addClient(type: "facebook", clientID: "b")
    for (clients, code) in [
      (["facebook"], VaultError.Code.usage), (["facebook:c"], .notFound),
      (["facebook:a", "facebook:b"], .usage),
    ] {
      let error = refusal { () throws(VaultError) in
        try session.addApp("123", name: "Badger", clients: clients)
      }
      #expect(error.code == code, "\(clients)")
    }
    #expect(try session.apps().isEmpty)
    _ = try session.addApp("123", name: "Badger", clients: ["facebook:b"], uids: [1000])
    #expect(try session.app("123").clients.map(\.description) == ["facebook:b"])
    #expect(try session.app("123").uids == [1000])
  }
}

@Suite struct `A client` {
  @Test func `is its type's default where it is the first, and the next follows it`() throws {
    let place = try Place()
    let session = try place.create()
    #expect(try session.addClient(type: "facebook", clientID: "one").isDefault)
    place.clock.advance(1)
    #expect(try !session.addClient(type: "facebook", clientID: "two").isDefault)
    place.clock.advance(1)
    #expect(try !session.addClient(type: "facebook", clientID: "three").isDefault)
    #expect(try session.addClient(type: "x", clientID: "one").isDefault)
    try session.removeClient("facebook:one")
    func defaults() throws -> [String] {
      try session.clients().filter(\.isDefault).map(\.reference.description)
    }
    #expect(try defaults() == ["facebook:two", "x:one"])
    try session.removeClient("facebook:three")
    #expect(try defaults() == ["facebook:two", "x:one"])
    try session.removeClient("facebook:two")
    #expect(try defaults() == ["x:one"])
    #expect(try session.entries(.clientRemoved).count == 3)
  }

  @Test func `stays while an app names it`() throws {
    let session = try Place().create()
    _ = try session.addClient(type: "facebook", clientID: "one")
    _ = try session.addApp("123", name: "Badger", clients: ["facebook:one"])
    let error = refusal { () throws(VaultError) in try session.removeClient("facebook:one") }
    #expect(error.code == .usage && error.message.contains("123"))
    try session.removeApp("123")
    try session.removeClient("facebook:one")
    #expect(try session.clients().isEmpty)
  }

  @Test func `is there once, of a known type, with a secret that shows nowhere`() throws {
    let place = try Place()
    let session = try place.create()
    let client = try session.addClient(
      type: "facebook", clientID: "one", secret: .text("client-canary-secret"), name: "Mine")
    #expect(client.hasSecret && client.name == "Mine")
    #expect(
      refusal { () throws(VaultError) in
        try session.addClient(type: "facebook", clientID: "one")
      }.code == .exists)
    #expect(
      refusal { () throws(VaultError) in try session.addClient(type: "none", clientID: "one") }
        .code == .notFound)
    #expect(
      refusal { () throws(VaultError) in
        try session.addClient(type: "facebook", clientID: "two", secret: .text(""))
      }.code == .usage)
    for wrong in ["facebook", "facebook:two"] {
      let code = refusal { () throws(VaultError) in try session.removeClient(wrong) }.code
      #expect(code == (wrong == "facebook" ? .usage : .notFound))
    }
    #expect(try place.bytes().range(of: Data("client-canary".utf8)) == nil)
    let shown = try session.entries().map { "\($0)" }.joined() + "\(try session.clients())"
    #expect(!shown.contains("canary"))
  }

  @Test func `of an app that was never signed in with has no credential to hand out`() throws {
    let session = try Place().create()
    try session.addFacebook()
    _ = try session.addClient(type: "facebook", clientID: "own")
    _ = try session.addApp("123", name: "Badger", clients: ["facebook:own"])
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    let error = refusal { () throws(VaultError) in try session.token(app: "123") }
    #expect(error.code == .signIn && error.message.contains("own"))
    // An app without one of its own is handed the only credential that there is.
    _ = try session.grant(Decision(app: "456", permissions: ["email"]))
    #expect(try session.tokenText(app: "456") == "EAA-token")
  }
}
