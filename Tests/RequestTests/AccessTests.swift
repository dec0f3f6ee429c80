import AccountVault
import Accounts
import Faults
import Foundation
import HTTPTypes
import OAuth
import Providers
import Sodium
import Testing
import Time

@Suite struct `The access to an account` {
  @Test func `holds the token, its secret and the client's`() throws {
    let session = try Place().create()
    _ = try session.addClient(type: "twitter", clientID: "ck", secret: .text("client secret"))
    let account = try session.addAccount(
      NewAccount(type: "twitter"),
      credential: .response(
        .text("oauth_token=1-t&oauth_token_secret=ts&user_id=1&screen_name=lestat")))
    let (access, credential) = try session.access(
      to: account, clientID: "ck", over: .unconnected())
    #expect(access.clientSecret?.shown == "client secret")
    #expect(access.accessToken.shown == "1-t" && access.tokenSecret?.shown == "ts")
    #expect(access.tokenType == "oauth1" && access.userID == "1" && access.proof == nil)
    #expect(credential.generation == 1 && credential.clientID == "ck")
  }

  @Test func `has no client secret where the client is not known or was removed`() throws {
    let session = try Place().create()
    let bare = try session.addAccount(
      NewAccount(type: "x", username: "a", userID: "1"),
      credential: .response(.text(#"{"access_token":"xt","token_type":"bearer"}"#)))
    let (unnamed, _) = try session.access(to: bare, clientID: "", over: .unconnected())
    #expect(unnamed.clientSecret == nil && unnamed.accessToken.shown == "xt")
    _ = try session.addClient(type: "github", clientID: "gc", secret: .text("gs"))
    let account = try session.addAccount(
      NewAccount(type: "github", username: "b"),
      credential: .response(.text(#"{"access_token":"gt","token_type":"bearer"}"#)))
    #expect(
      try session.access(to: account, clientID: "gc", over: .unconnected()).0.clientSecret != nil)
    try session.removeClient("github:gc")
    let (removed, _) = try session.access(to: account, clientID: "gc", over: .unconnected())
    #expect(removed.clientSecret == nil && removed.accessToken.shown == "gt")
  }

  @Test func `is refused where there is no credential`() throws {
    let session = try Place().create()
    let account = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat"), credential: .none)
    do {
      _ = try session.access(to: account, clientID: "", over: .unconnected())
      Issue.record("there is no credential")
    } catch {
      #expect(error.code == .signIn && error.hint?.contains("sign-in") == true)
    }
  }
}
