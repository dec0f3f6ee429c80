package import HTTPTypes
package import OAuth
import Providers
package import Sodium
import Time

/// What shows a provider whose request it is: one credential, opened, with the client it belongs to.
package struct Access: Sendable {
  package let clientID: String
  package let clientSecret: SharedSecret?
  package let tokenType: String
  package let accessToken: SharedSecret
  /// OAuth 1.0a only.
  package let tokenSecret: SharedSecret?
  /// The key that the token is bound to (RFC 9449).
  package let proof: DPoP.Key?
  /// The provider's own id of the person.
  package let userID: String?

  package init(
    clientID: String, clientSecret: SharedSecret?, tokenType: String, accessToken: SharedSecret,
    tokenSecret: SharedSecret? = nil, proof: DPoP.Key? = nil, userID: String? = nil
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.tokenType = tokenType
    self.accessToken = accessToken
    self.tokenSecret = tokenSecret
    self.proof = proof
    self.userID = userID
  }
}

/// A request to a provider's API, before it is signed.
package struct ResourceRequest: Sendable {
  /// In upper case.
  package var method: String
  package var url: RequestURL
  package var headers: [(name: String, value: String)] = []
  package var body = HTTPBody.none

  package init(_ method: String, _ url: RequestURL) {
    self.method = method
    self.url = url
  }
}

extension Network {
  /// The request as it is sent for an account: signed (OAuth 1.0a), or with the token where the
  /// provider wants it.
  ///
  /// The definition's headers and query fields are added. A token leaves only for a host that the
  /// definition names, over TLS or to this machine: a wrong address would show it to whoever listens
  /// there (RFC 9700 section 4.9).
  ///
  /// - Parameter time: The server's, as far as it is known.
  /// - Throws: ``OAuthError``: `insecure` for another host; `badParameter` for a header that the
  ///   signature or the definition owns.
  package func authorize(
    _ request: ResourceRequest, by access: Access, of provider: Provider, time: Timestamp
  ) throws(OAuthError) -> HTTPRequest {
    var request = request
    request.url = try withParameters(of: provider, access, request.url)
    guard provider.mayReceiveToken(request.url.origin) else {
      throw .insecure("\(request.url.host) is no host of \(provider.name)")
    }
    for header in request.headers {
      guard !["authorization", "dpop"].contains(header.name.lowercased()) else {
        throw .badParameter(header.name)
      }
    }
    var sent = HTTPRequest(
      request.method, request.url.text, headers: request.headers, body: request.body)
    for header in provider.headers
    where !sent.headers.contains(where: { $0.name.lowercased() == header.name.lowercased() }) {
      sent.headers.append(header)
    }
    let appSecretProof = appSecretProof(by: access, of: provider)
    if provider.protocol == .oauth1 {
      sent.secretHeaders.append(
        ("Authorization", try signature(of: request, by: access, provider, time: time)))
    } else if access.tokenType.lowercased() == "dpop" {
      // A bound token is never sent as a bearer token, which whoever reads it could use (RFC 9449
      // section 7.2); without its key the server refuses it.
      sent.secretHeaders.append(("Authorization", access.accessToken.following("DPoP ")))
      if let key = access.proof {
        let proof = try DPoP.proof(
          request.method, request.url, by: key,
          accessTokenHash: DPoP.hash(of: access.accessToken.bytes),
          nonce: origins.nonce(of: request.url.origin), time: time)
        sent.headers.append(("DPoP", proof))
      }
    } else if provider.tokenPlace == .query {
      var form = FormBody(.strict)
      form.append(provider.tokenParameter, access.accessToken.bytes)
      if let appSecretProof { form.append("appsecret_proof", appSecretProof) }
      sent.secretQuery = SharedSecret(form.finish())
    } else {
      sent.secretHeaders.append(
        ("Authorization", access.accessToken.following(provider.tokenScheme + " ")))
    }
    if let appSecretProof, sent.secretQuery == nil {
      var form = FormBody(.strict)
      form.append("appsecret_proof", appSecretProof)
      sent.secretQuery = SharedSecret(form.finish())
    }
    return sent
  }

  /// What shows Facebook that the app itself sends its token, and no thief of it.
  private func appSecretProof(by access: Access, of provider: Provider) -> String? {
    guard provider.sendsAppSecretProof, let secret = access.clientSecret else { return nil }
    return FacebookProofs.appSecretProof(of: access.accessToken.bytes, secret.bytes)
  }

  /// The address with the fields that the definition wants in every call.
  private func withParameters(
    of provider: Provider, _ access: Access, _ url: RequestURL
  ) throws(OAuthError) -> RequestURL {
    var fields: [(name: String, value: String)] = []
    for (name, value) in provider.apiParameters {
      if value.contains("{user_id}"), access.userID == nil { continue }
      fields.append(
        (
          name,
          value.replacing("{client_id}", with: access.clientID)
            .replacing("{user_id}", with: access.userID ?? "")
        ))
    }
    return fields.isEmpty ? url : try RequestURL(try url.adding(fields))
  }

  private func signature(
    of request: ResourceRequest, by access: Access, _ provider: Provider, time: Timestamp
  ) throws(OAuthError) -> SharedSecret {
    guard let clientSecret = access.clientSecret else { throw .insecure("no client secret") }
    let credentials = SigningCredentials(
      clientID: access.clientID, clientSecret: clientSecret.bytes.copy(),
      token: access.accessToken.bytes.copy(), tokenSecret: access.tokenSecret?.bytes.copy())
    let signer = try signer(of: provider, clientSecret: clientSecret)
    var form: SecretBytes?
    if case .bytes(let bytes, let type) = request.body,
      MediaType.isForm(type)
    {
      form = bytes.bytes.copy()
    }
    var options = OAuth1Request.Options()
    let isForm =
      switch form {
      case .some: true
      case .none: false
      }
    options.sendsBodyHash = provider.signsBodyHash && !isForm
    let signed = try OAuth1Request(request.method, request.url, form: form)
    switch request.body {
    case .bytes(let bytes, _) where options.sendsBodyHash:
      return try bytes.withBytes { body throws(OAuthError) in
        SharedSecret(
          try signed.authorization(by: credentials, signer, .at(time), options, body: body))
      }
    case .multipart where options.sendsBodyHash, .pulled where options.sendsBodyHash:
      throw .badParameter("a multipart body with oauth_body_hash")
    default:
      return SharedSecret(try signed.authorization(by: credentials, signer, .at(time), options))
    }
  }

  /// What signs for a provider that speaks OAuth 1.0a, by its definition's `signature_method`.
  ///
  /// - Throws: ``OAuthError/cannotSign(_:)`` for RSA-SHA1 with a secret that is no private key.
  package func signer(
    of provider: Provider, clientSecret: SharedSecret
  ) throws(OAuthError) -> RequestSigner {
    switch provider.signatureMethod {
    case .hmacSHA1: signatures.hmacSHA1
    case .hmacSHA256: .hmacSHA256
    case .rsaSHA1: try signatures.rsaSHA1(clientSecret.bytes)
    case .plaintext: .plaintext
    }
  }
}

extension SharedSecret {
  /// The secret behind a word, as a header has it.
  func following(_ prefix: String) -> SharedSecret {
    let prefix = Array(prefix.utf8)
    var value = SecretBytes(count: prefix.count + count)
    value.withMutableBytes { target in
      for (offset, byte) in prefix.enumerated() {
        target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
      }
      withBytes { secret in
        for offset in 0..<secret.byteCount {
          // A byte has no invalid form, and the offset is inside.
          let byte = unsafe secret.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          target.storeBytes(of: byte, toByteOffset: prefix.count + offset, as: UInt8.self)
        }
      }
    }
    return SharedSecret(value)
  }
}
