internal import JSON
package import Sodium
package import Time

/// A client at a token endpoint, and how it shows who it is (RFC 6749 section 2.3).
package struct OAuth2Client: ~Copyable, Sendable {
  package enum Authentication: String, Sendable, CaseIterable {
    /// `client_secret` in the form.
    case post
    /// Id and secret each form-encoded, as section 2.3.1 says.
    case basic
    /// Id and secret as they are, for the servers that do not decode them.
    case basicRaw = "basic_raw"
    /// A signed statement in the form (RFC 7523).
    case privateKeyJWT = "private_key_jwt"
    /// A public client: its id in the form.
    case none
  }

  package let id: String
  private let secret: SecretBytes?
  package let authentication: Authentication

  /// - Throws: ``OAuthError/insecure(_:)`` for a way that needs a secret, without one;
  ///   ``OAuthError/badParameter(_:)`` for an empty id, and for one with a colon where it is sent as it
  ///   is: the server would cut it in two.
  package init(
    id: String, secret: consuming SecretBytes? = nil, _ authentication: Authentication
  ) throws(OAuthError) {
    guard !id.isEmpty else { throw .badParameter("client_id") }
    guard authentication != .privateKeyJWT else { throw .cannotSign("a statement needs a key") }
    if authentication == .basicRaw, id.contains(":") { throw .badParameter("client_id") }
    let hasSecret =
      switch secret {
      case .some(let secret): secret.count > 0
      case .none: false
      }
    guard hasSecret || authentication == .none else { throw .insecure("no client secret") }
    self.id = id
    self.secret = secret
    self.authentication = authentication
  }

  /// A public client at a server that wants Basic all the same, with an empty secret.
  ///
  /// - Throws: ``OAuthError/badParameter(_:)`` for an empty id.
  package init(publicByBasic id: String) throws(OAuthError) {
    guard !id.isEmpty else { throw .badParameter("client_id") }
    self.id = id
    secret = SecretBytes(count: 0)
    authentication = .basic
  }

  /// A client that shows a statement signed by its own key (RFC 7523 sections 2.2 and 3): its secret
  /// never leaves, and a statement that somebody kept is of no use elsewhere or later. Of use once: a
  /// second request takes a new one, by its `jti`.
  ///
  /// - Parameters:
  ///   - audience: The server's name for itself, else the token endpoint's address.
  ///   - time: The server's, as far as it is known. The statement is good for 60 seconds from then.
  /// - Throws: What `key` throws.
  package init(
    id: String, audience: String, time: Timestamp,
    key: (algorithm: String, sign: RequestSigner.Sign)
  ) throws(OAuthError) {
    guard !id.isEmpty else { throw .badParameter("client_id") }
    let assertion = try JSONWebSignature.make(
      .object([.init("typ", "JWT"), .init("alg", .string(key.algorithm))]),
      .object([
        .init("iss", .string(id)), .init("sub", .string(id)), .init("aud", .string(audience)),
        .init("jti", .string(Base64.encodeURL(Random.bytes(16)))),
        .init("iat", .int(time.seconds)), .init("exp", .int(time.seconds + 60)),
      ]), key.sign)
    var bytes = WipedBytes(capacity: assertion.utf8.count)
    bytes.append(assertion)
    self.id = id
    secret = bytes.finish()
    authentication = .privateKeyJWT
  }

  /// The value of the `Authorization` header; nil where there is none.
  package func authorization() -> SecretBytes? {
    guard authentication == .basic || authentication == .basicRaw else { return nil }
    switch secret {
    case .some(let secret): return Self.basic(id, secret, isRaw: authentication == .basicRaw)
    case .none: return nil
    }
  }

  /// Basic authentication (RFC 7617); `isRaw` leaves out the form encoding of RFC 6749.
  static func basic(_ id: String, _ secret: borrowing SecretBytes, isRaw: Bool) -> SecretBytes {
    var pair = WipedBytes(capacity: 3 * (id.utf8.count + secret.count) + 1)
    if isRaw {
      pair.append(id)
    } else {
      pair.append(id, .form)
    }
    pair.append(UInt8(ascii: ":"))
    secret.withBytes { secret in
      if isRaw {
        pair.append(secret)
      } else {
        pair.append(secret, .form)
      }
    }
    let text = pair.finish()
    var header = WipedBytes(capacity: 6 + (text.count + 2) / 3 * 4)
    header.append("Basic ")
    text.withBytes { Base64URL.encodeStandard($0, to: &header) }
    return header.finish()
  }

  /// Writes what of the client goes into the form.
  func write(to form: inout FormBody) {
    switch authentication {
    case .basic, .basicRaw: return
    case .none: form.append("client_id", id)
    case .privateKeyJWT:
      form.append("client_id", id)
      form.append(
        "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      switch secret {
      case .some(let assertion): form.append("client_assertion", assertion)
      case .none: break
      }
    case .post:
      form.append("client_id", id)
      switch secret {
      case .some(let secret): form.append("client_secret", secret)
      case .none: break
      }
    }
  }
}
