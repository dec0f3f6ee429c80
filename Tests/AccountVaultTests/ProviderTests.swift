import AccountVault
import Foundation
import SQLite
import Testing

@Suite struct `A definition of the owner's own` {
  private let text =
    #"{"id":"mine","name":"Mine","extends":"facebook","api_hosts":["api.mine.example"]}"#

  @Test func `extends a built-in one and serves accounts`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      let provider = try session.addProvider(text)
      #expect(provider.id == "mine" && provider.name == "Mine")
      _ = try session.addAccount(
        NewAccount(type: "mine", username: "lestat"), credential: .bearer(.text("t")))
      _ = try session.grant(Decision(app: "123", permissions: ["publish_actions"]))
      #expect(try session.entries(.providerAdded).map { $0.detail("provider") } == ["mine"])
    }
    let session = try place.open()
    #expect(try session.ownProviders().map(\.id) == ["mine"])
    #expect(try session.tokenText() == "t")
    #expect(try session.account("mine:lestat").type == "mine")
  }

  @Test func `takes no built-in one's place`() throws {
    let place = try Place()
    let session = try place.create()
    let before = try place.bytes()
    for id in Provider.builtInIdentifiers {
      let error = refusal { () throws(VaultError) in
        try session.addProvider(#"{"id":"\#(id)","name":"Evil","extends":"facebook"}"#)
      }
      #expect(error.code == .exists, "\(id)")
    }
    #expect(try place.bytes() == before)
  }

  @Test func `with an unknown member is refused by its name`() throws {
    let place = try Place()
    let session = try place.create()
    let before = try place.bytes()
    for (text, named) in [
      (#"{"id":"mine","name":"M","extends":"facebook","colour":"red"}"#, "colour"),
      (#"{"id":"mine","name":"M","extends":"facebook","renewal":{"margn_seconds":1}}"#, "margn"),
      (#"{"id":"mine","name":"M","extends":"none"}"#, "none"),
    ] {
      let error = refusal { () throws(VaultError) in try session.addProvider(text) }
      #expect(error.code == .config)
      #expect(error.message.contains(named), "\(error.message)")
    }
    for text in ["", "{", "[]", "null"] {
      #expect(
        refusal { () throws(VaultError) in try session.addProvider(text) }.code == .config)
    }
    #expect(try place.bytes() == before)
    #expect(refusal { () throws(VaultError) in try session.provider("mine") }.code == .notFound)
  }
}

@Suite struct `What is secret` {
  @Test func `cannot be copied, and prints as nothing`() throws {
    // That they are noncopyable is what the compiler holds; this holds what a debugger would show.
    let place = try Place()
    let session = try place.create()
    try session.addFacebook(token: "EAA-canary")
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    let account = try session.account("lestat")
    let standing = try session.standing(of: account)
    var shown = ""
    dump(standing, to: &shown)
    dump(try session.apps(), to: &shown)
    dump(try session.entries(), to: &shown)
    dump(try session.access(app: "123"), to: &shown)
    #expect(shown.contains("lestat"))
    #expect(!shown.contains("canary"))
  }

  @Test func `is in no error`() throws {
    let place = try Place()
    let session = try place.create()
    var texts: [String] = []
    for body in [
      #"{"access_token":"canary-1","expires_in":"canary-2"}"#, #"{"access_token":"canary\n3"}"#,
      #"{"access_token":{"canary":4}}"#, "canary-5", #"{"access_token":"canary-6""#,
      "oauth_token=canary-7", #"{"access_token":"a","access_token":"canary-8"}"#,
    ] {
      for type in ["facebook", "twitter", "x", "weibo"] {
        do throws(VaultError) {
          _ = try session.addAccount(
            NewAccount(type: type, username: "u-\(texts.count)"),
            credential: .response(.text(body)))
        } catch {
          texts.append("\(error) \(error.hint ?? "")")
        }
      }
    }
    #expect(texts.count > 15)
    for text in texts { #expect(!text.contains("canary"), "\(text)") }
  }
}

extension Place {
  /// Another connection that is writing.
  func holdWriteLock() throws -> Connection {
    let connection = try Connection.open(path, .readWrite)
    try connection.setDoNotCheckpointOnClose(true)
    try connection.execute("BEGIN IMMEDIATE")
    return connection
  }
}
