import AccountVault
import AccountVaultNetwork
import Foundation
import OAuth
import Sodium
import Time

/// The library's requests, carried by curl: only what stands in them is looked at here.
extension SecretBytes {
  /// A secret that a peer printed, and therefore none.
  init(_ text: String) {
    self = Array(text.utf8).withBytes { SecretBytes(copying: $0) }
  }

  var string: String {
    withBytes { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte($0) }, as: UTF8.self)
    }
  }
}

extension Curl {
  static func send(_ request: borrowing CredentialRequest) throws -> Reply {
    var headers: [String] = []
    switch request.authorization {
    case .some(let value): headers.append("Authorization: \(value.string)")
    case .none: break
    }
    if let proof = request.proof { headers.append("DPoP: \(proof)") }
    let form: String? =
      switch request.form {
      case .some(let form): form.string
      case .none: nil
      }
    return try send(
      request.url.text, body: form ?? "", method: request.method.rawValue, headers: headers)
  }
}

/// A client of the OAuth 1.0a peer, perhaps with a token.
struct Signed {
  let peer: Peer
  let client: Peer.Client
  var token: String?
  var secret: String?
  var signer = Signatures.libcrypto.hmacSHA1

  static func now() throws -> Timestamp {
    Timestamp(seconds: Int64(Date().timeIntervalSince1970))
  }

  var credentials: SigningCredentials {
    SigningCredentials(
      clientID: client.id, clientSecret: SecretBytes(client.secret ?? ""),
      token: token.map { SecretBytes($0) }, tokenSecret: secret.map { SecretBytes($0) })
  }

  func url(_ name: String) throws -> RequestURL { try RequestURL(peer.endpoint(name)) }

  /// The value of `Authorization` for a request to the peer.
  func header(_ method: String, _ url: String, form: String? = nil) throws -> String {
    let address = try RequestURL(url)
    let moment = OAuth1Request.Moment.at(try Self.now())
    let request =
      if let form {
        try OAuth1Request(method, address, form: SecretBytes(form))
      } else {
        try OAuth1Request(method, address)
      }
    return try request.authorization(by: credentials, signer, moment).string
  }

  func send(_ method: String, _ url: String, form: String? = nil) throws -> Curl.Reply {
    let value = try header(method, url, form: form)
    return try Curl.send(url, body: form, method: method, headers: ["Authorization: \(value)"])
  }

  /// The same client with the token of a reply.
  func holding(_ reply: Curl.Reply) throws -> Signed {
    let form = try FormReply(reply.body)
    var held = self
    held.token = try form.text("oauth_token")
    held.secret = try form.text("oauth_token_secret")
    return held
  }

  /// A token for name and password.
  func xAuth(_ name: String, _ password: String) throws -> Curl.Reply {
    try Curl.send(
      OAuth1.xAuth(
        at: url("token"), username: name, password: SecretBytes(password), by: credentials,
        signer, .at(Self.now())))
  }
}
