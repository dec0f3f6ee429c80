import AccountVault
import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct `An account` {
  @Test func `is who the provider says it is, and its name is a label with a history`() throws {
    let session = try Place().create()
    let old = try session.addTwitter("old", id: "1")
    _ = try session.grant(Decision(app: "123", permissions: ["read"]))
    let new = try session.addTwitter("new", id: "1")
    let stranger = try session.addTwitter("old", id: "2")
    #expect(new.id == old.id)
    #expect(new.username == "new")
    #expect(new.formerUsernames.map(\.name) == ["old"])
    #expect(stranger.id != old.id)
    #expect(try session.account("twitter:old").id == stranger.id)
    #expect(try session.account("twitter:new").id == old.id)
    // The one who took the old name inherits nothing.
    #expect(try session.states(account: old.id.text) == ["read": .granted])
    #expect(try session.states(account: stranger.id.text) == [:])
    #expect(
      try session.entries().map(\.event) == [
        .vaultCreated, .accountAdded, .appAdded, .granted, .accountRenamed, .signedIn,
        .accountAdded,
      ])
    _ = try session.verify()
  }

  @Test func `with a number of 64 bits keeps every digit`() throws {
    let session = try Place().create()
    let one = try session.addTwitter("a", id: "9007199254740993")
    let other = try session.addTwitter("b", id: "9007199254740992")
    #expect(one.id != other.id)
    #expect(try session.account("twitter:9007199254740993").id == one.id)
  }

  @Test func `that came back as somebody else is left as it was`() throws {
    let session = try Place().create()
    let account = try session.addTwitter("lestat", id: "100", token: "of-100")
    _ = try session.grant(Decision(app: "123", permissions: ["read"]))
    let error = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: "twitter", userID: "100"),
        credential: .response(
          .text("oauth_token=of-200&oauth_token_secret=s&user_id=200&screen_name=louis")))
    }
    #expect(error.code == .wrongUser)
    #expect(error.hint?.contains("200") == true)
    #expect(try session.tokenText(["read"]) == "of-100")
    let standing = try session.standing(of: session.account(account.id.text))
    #expect(standing.account == account)
    #expect(standing.credentials.map(\.credential.generation) == [1])
    let entry = try #require(try session.entries(.failed).first)
    #expect(entry.detail("expected") == "100" && entry.detail("found") == "200")
  }

  @Test func `signed in again has its credential replaced whole and keeps its grants`() throws {
    let session = try Place().create()
    let first = try session.addX(token: "one", refresh: "r")
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    let again = try session.addX(token: "two", refresh: nil)
    #expect(again.id == first.id)
    let credential = try session.standing(of: again).credentials[0].credential
    #expect(credential.generation == 2)
    // Not a mixture of the two.
    #expect(!credential.hasRefreshToken)
    #expect(try session.tokenText(["tweet.read"]) == "two")
    #expect(try session.entries(.signedIn).map { $0.detail("generation") } == ["2"])
  }

  @Test func `is not replaced by a token that proves nothing while its own is good`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook("lestat", token: "mine")
    let error = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: "facebook", username: "lestat"), credential: .bearer(.text("other")))
    }
    #expect(error.code == .exists)
    place.clock.advance(61 * 86_400)
    let account = try session.addFacebook("lestat", token: "new")
    #expect(try session.standing(of: account).credentials[0].credential.generation == 2)
  }

  @Test func `without a credential is there, and absent is what it says`() throws {
    let session = try Place().create()
    let account = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat"), credential: .none)
    #expect(try session.standing(of: account).credentials.isEmpty)
    let twice = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: "facebook", username: "lestat"), credential: .none)
    }
    #expect(twice.code == .exists)
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    #expect(refusal { () throws(VaultError) in try session.token(app: "123") }.code == .signIn)
    // The first token is no replacement of anything.
    try session.addFacebook("lestat")
    #expect(try session.tokenText(["email"]) == "EAA-token")
  }

  @Test func `of a name that two have is not guessed at`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook("lestat", id: "100")
    try session.addFacebook("lestat", id: "200")
    place.clock.advance(61 * 86_400)
    let error = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: "facebook", username: "lestat"), credential: .bearer(.text("whose")))
    }
    #expect(error.code == .ambiguous)
    #expect(error.candidates.count == 2)
  }

  @Test func `is found by id, by the beginning of it, by type and name, and by name`() throws {
    let session = try Place().create()
    let facebook = try session.addFacebook("lestat", id: "100")
    let weibo = try session.addAccount(
      NewAccount(type: "weibo", username: "lestat", userID: "100"), credential: .none)
    for text in [
      facebook.id.text, String(facebook.id.text.prefix(6)), "facebook:lestat", "facebook:100",
    ] {
      #expect(try session.account(text).id == facebook.id, "\(text)")
    }
    #expect(try session.account("weibo:100").id == weibo.id)
    let name = refusal { () throws(VaultError) in try session.account("lestat") }
    #expect(name.code == .ambiguous)
    #expect(name.candidates.count == 2)
    for text in [
      String(facebook.id.text.prefix(5)), "facebook:", "facebook:200", "Lestat", "",
      "x:lestat", String(repeating: "a", count: 26), "aaaaaa", "a\nb",
    ] {
      #expect(
        refusal { () throws(VaultError) in try session.account(text) }.code == .notFound,
        "\(text)")
    }
  }

  @Test func `whose name looks like another's id takes nobody's place`() throws {
    let session = try Place().create()
    let real = try session.addFacebook("lestat")
    let prefix = String(real.id.text.prefix(8))
    let impostor = try session.addFacebook(prefix)
    #expect(
      refusal { () throws(VaultError) in try session.account(prefix) }.code == .ambiguous)
    // A whole id means its account, whoever is called so.
    let whole = try session.addFacebook(real.id.text)
    #expect(try session.account(real.id.text).id == real.id)
    #expect(Set([real.id, impostor.id, whole.id]).count == 3)
  }

  @Test func `renamed is found by its new name alone`() throws {
    let session = try Place().create()
    let account = try session.addFacebook("old")
    _ = try session.addFacebook("taken")
    #expect(
      refusal { () throws(VaultError) in try session.rename(account, to: "taken") }.code
        == .exists)
    #expect(
      refusal { () throws(VaultError) in try session.rename(account, to: "a\u{1b}[2J") }.code
        == .usage)
    let renamed = try session.rename(account, to: "new")
    #expect(renamed.formerUsernames.map(\.name) == ["old"])
    #expect(try session.account("new").id == account.id)
    #expect(refusal { () throws(VaultError) in try session.account("old") }.code == .notFound)
    let entry = try #require(try session.entries(.accountRenamed).first)
    #expect(entry.detail("from") == "old" && entry.detail("to") == "new")
  }

  @Test func `removed takes its credential along and leaves another provider's alone`() throws {
    let place = try Place()
    let session = try place.create()
    let facebook = try session.addFacebook("lestat", id: "100", token: "facebook-token")
    _ = try session.addAccount(
      NewAccount(type: "weibo", username: "lestat", userID: "100"),
      credential: .bearer(.text("weibo-token")))
    _ = try session.grant(Decision(app: "123", permissions: ["publish_actions"]))
    _ = try session.grant(
      Decision(app: "123", permissions: ["email"], account: "weibo:100"))
    let sealed = try place.sealedBlobs(["account", "credential", "standing"])
    let isScrubbed = try session.remove(facebook).isScrubbed
    #expect(isScrubbed)
    let left = try place.sealedBlobs(["account", "credential", "standing"])
    let gone = sealed.filter { !left.contains($0) }
    // Overview of account, credential and standing, and the credential's secret.
    #expect(gone.count == 4)
    let bytes = try place.bytes()
    for blob in gone { #expect(bytes.range(of: blob) == nil) }
    #expect(left.allSatisfy { bytes.range(of: $0) != nil })
    #expect(
      refusal { () throws(VaultError) in try session.account("facebook:100") }.code == .notFound)
    #expect(try session.tokenText(["email"]) == "weibo-token")
    // The history stays.
    #expect(try session.entries(.granted).count == 2)
    #expect(try session.entries(.accountRemoved).map(\.accountLabel) == ["facebook:lestat"])
    #expect(try session.historyAccount(facebook.id.text) == facebook.id)
    _ = try session.verify()
    #expect(
      refusal { () throws(VaultError) in try session.remove(facebook) }.code == .notFound)
  }

  @Test func `cannot be removed while all are being walked through`() throws {
    let session = try Place().create()
    try session.addFacebook("lestat")
    let error = refusal { () throws(VaultError) in
      try session.forEachAccount { (account) throws(VaultError) in
        try session.remove(account)
        return true
      }
    }
    #expect(error.code == .failed)
    #expect(try session.account("lestat").type == "facebook")
  }

  @Test func `that was read before it was removed is not found, and no damage`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.addFacebook("lestat")
    try place.open().remove(account)
    let error = refusal { () throws(VaultError) in try session.standing(of: account) }
    #expect(error.code == .notFound)
  }

  @Test func `is listed by type and by what an app holds`() throws {
    let session = try Place().create()
    try session.addFacebook("a")
    try session.addFacebook("b")
    try session.addTwitter("c", id: "3")
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "b"))
    _ = try session.deny(Decision(app: "123", permissions: ["email"], account: "a"))
    func names(_ type: String? = nil, _ app: String? = nil) throws -> [String] {
      var names: [String] = []
      try session.forEachAccount(type: type, app: app) { (account) throws(VaultError) in
        names.append(account.username)
        return true
      }
      return names.sorted()
    }
    #expect(try names() == ["a", "b", "c"])
    #expect(try names("facebook") == ["a", "b"])
    #expect(try names(nil, "123") == ["b"])
    let unknown = refusal { () throws(VaultError) in
      try session.forEachAccount(app: "456") { (_) throws(VaultError) in true }
    }
    #expect(unknown.code == .notFound)
  }

  @Test(arguments: [
    ("facebook", "", "token"), ("facebook", "a\nb", "token"), ("facebook", "a", ""),
    ("facebook", "a", "to\nken"), ("facebook", "a", "to ken"), ("twitter", "a", "token"),
  ])
  func `is not added from what is malformed`(_ type: String, _ name: String, _ token: String)
    throws
  {
    let place = try Place()
    let session = try place.create()
    let before = try place.bytes()
    let error = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: type, username: name), credential: .bearer(.text(token)))
    }
    #expect(error.code == .usage)
    #expect(try place.bytes() == before)
  }

  @Test func `of an unknown type or client is not found, and the file stays as it was`() throws {
    let place = try Place()
    let session = try place.create()
    let before = try place.bytes()
    let type = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: "com.example.none", username: "a"), credential: .none)
    }
    #expect(type.code == .notFound)
    let client = refusal { () throws(VaultError) in
      try session.addAccount(
        NewAccount(type: "facebook", username: "a", clientID: "none"), credential: .none)
    }
    #expect(client.code == .notFound)
    #expect(try place.bytes() == before)
  }
}

extension Place {
  /// The sealed blobs of some tables, read by SQLite alone.
  func sealedBlobs(_ tables: [String]) throws -> [Data] {
    let connection = try Connection.open(path, .readWrite)
    var blobs: [Data] = []
    for table in tables {
      let select = try connection.prepare("SELECT overview, secret FROM \(table)")
      while try select.step() {
        blobs += [Data(select.bytes(0)), Data(select.bytes(1))].filter { !$0.isEmpty }
      }
    }
    try connection.setDoNotCheckpointOnClose(true)
    return blobs
  }
}
