import AccountVaultNetwork
import Foundation
import OAuth
import Sodium
import Testing

@testable import AccountVault

/// What the library signs by OAuth 1.0a, as oauthlib's verifier sees it.
@Suite(.serialized) struct `A verifier of others` {
  let peer: Peer
  let client: Signed

  init() throws {
    peer = try Peer(.oauth1)
    client = try Signed(peer: peer, client: peer.client("first-client"))
  }

  /// Names the person and says yes, as the page's form would; the reply.
  func consent(to token: String, at address: String) throws -> Curl.Reply {
    let page = try Curl.send(address)
    #expect(page.status == 200, "\(page)")
    let person = try peer.person()
    return try Curl.send(
      peer.endpoint("authorize"),
      form: [
        "oauth_token": token, "username": person.name, "password": person.password,
        "allow": "yes",
      ])
  }

  /// The client with a token, by all three steps.
  func signedIn(_ callback: OAuth1.Callback) throws -> Signed {
    let signer = client.signer
    let first = try Curl.send(
      OAuth1.temporaryCredentials(
        at: client.url("request_token"), callback, by: client.credentials, signer,
        .at(Signed.now())))
    try #require(first.status == 200, "\(first)")
    let temporary = try Array(first.body.utf8).withBytes { body throws(OAuthError) in
      try TemporaryCredentials(body)
    }
    let token = temporary.token
    let address = try temporary.authorizeURL(at: client.url("authorize"))
    let answer = try consent(to: token, at: address)
    let verifier: String
    if callback == .pin {
      let number = try #require(answer.body.firstMatch(of: /id="pin">([0-9]+)</))
      verifier = String(number.1)
    } else {
      try #require(answer.status == 302, "\(answer)")
      let query = try #require(answer.location.split(separator: "?").last)
      let found = try temporary.verifier(fromQuery: String(query))
      switch found {
      case .some(let found): verifier = found.string
      case .none: verifier = ""
      }
    }
    let last = try Curl.send(
      OAuth1.token(
        at: client.url("token"), verifier: verifier,
        by: client.holding(first).credentials, signer, .at(Signed.now())))
    try #require(last.status == 200, "\(last)")
    return try client.holding(last)
  }

  @Test func `hands out a token for a callback and for a number`() throws {
    for callback in [OAuth1.Callback.url("http://127.0.0.1:1/callback?own=1"), .pin] {
      let account = try signedIn(callback)
      let me = try account.send("GET", peer.endpoint("userinfo"))
      #expect(try me.json()["screen_name"].text == "ann", "\(me)")
    }
  }

  @Test func `takes each method of signing, with a query and with a form`() throws {
    var account = try signedIn(.pin)
    let pem = SecretBytes(try #require(try peer.told()["private_key"].text))
    let signers: [RequestSigner] = [
      Signatures.libcrypto.hmacSHA1, .hmacSHA256, try Signatures.libcrypto.rsaSHA1(pem), .plaintext,
    ]
    #expect(signers.map(\.name).sorted() == (try peer.told()["methods"].texts.sorted()))
    // What encodings differ on: a space, a plus, a star, an umlaut, an empty value, a name twice.
    let url = try peer.endpoint("resource") + "?b=%20%2B%2A%C3%A4&a=2&a=1&e="
    let form = "text=100%25+%C3%A4%26%3D%2B%2A~&text=&z=%2520"
    for signer in signers {
      account.signer = signer
      let read = try account.send("GET", url)
      #expect(read.status == 200, "\(signer.name): \(read)")
      #expect(try read.json()["signed_with"].text == signer.name)
      let written = try account.send("POST", url, form: form)
      #expect(written.status == 200, "\(signer.name): \(written)")
      #expect(try written.json()["form"][0][1].text == "100% ä&=+*~")
    }
  }

  @Test func `refuses a request that is sent twice, changed, or signed by another secret`() throws {
    let account = try signedIn(.pin)
    let url = try peer.endpoint("resource") + "?a=1"
    let header = "Authorization: \(try account.header("GET", url))"
    #expect(try Curl.send(url, headers: [header]).status == 200)
    #expect(try Curl.send(url, headers: [header]).status == 401)
    let other = "Authorization: \(try account.header("GET", url))"
    #expect(try Curl.send(url + "1", headers: [other]).status == 401)
    var stranger = account
    stranger.secret = "x" + (account.secret ?? "")
    #expect(try stranger.send("GET", url).status == 401)
    #expect(try account.send("GET", url).status == 200)
  }

  @Test func `hands out a token for name and password`() throws {
    let person = try peer.person()
    func ask(_ password: String) throws -> Curl.Reply {
      try client.xAuth(person.name, password)
    }
    let given = try ask(person.password)
    #expect(given.status == 200, "\(given)")
    #expect(try client.holding(given).send("GET", peer.endpoint("userinfo")).status == 200)
    #expect(try ask(person.password + "!").status == 401)
  }

  @Test func `hands out a token to another client by Reverse Auth, once`() throws {
    let account = try signedIn(.pin)
    let app = try Signed(peer: peer, client: peer.client("second-client"))
    let signer = app.signer
    let first = try Curl.send(
      OAuth1.reverseAuthorization(
        at: app.url("request_token"), by: app.credentials, signer, .at(Signed.now())))
    try #require(first.status == 200, "\(first)")
    #expect(first.body.hasPrefix("OAuth "))
    func second(_ answer: String) throws -> Curl.Reply {
      try Curl.send(
        OAuth1.reverseToken(
          at: account.url("reverse_auth"), for: app.client.id, SecretBytes(answer),
          by: account.credentials, signer, .at(Signed.now())))
    }
    // Byte for byte: a space more is another text.
    #expect(try second(first.body + " ").status == 401)
    let given = try second(first.body)
    try #require(given.status == 200, "\(given)")
    #expect(try app.holding(given).send("GET", peer.endpoint("userinfo")).status == 200)
    #expect(try second(first.body).status == 401)
  }
}
