internal import Encoding
package import Sodium
package import Time

/// A request that OAuth 1.0a signs (RFC 5849 section 3): everything that the signature covers, and
/// nothing that is sent is left to be decided.
package struct OAuth1Request: ~Copyable {
  /// What goes into the signature besides the request itself.
  package struct Options: Sendable {
    /// `oauth_version=1.0`, which is optional and signed where it is sent.
    package var sendsVersion = true
    /// Not signed.
    package var realm: String?
    /// `oauth_body_hash`, for the servers that ask for it. Not with a form, not with PLAINTEXT.
    package var sendsBodyHash = false
    /// `oauth_callback` and `oauth_verifier`.
    package var extra: [(name: String, value: String)] = []

    package init() {}
  }

  /// One of these in one time: a server refuses the second request with both the same, so a retry
  /// takes new ones.
  package struct Moment: Sendable {
    package let nonce: String
    package let time: Timestamp

    /// - Parameters:
    ///   - nonce: ASCII.
    ///   - time: The server's, which is ours and the offset that its `Date` header showed.
    package init(nonce: String, time: Timestamp) {
      self.nonce = nonce
      self.time = time
    }

    /// A nonce of 128 random bits.
    package static func at(_ time: Timestamp) -> Moment {
      Moment(nonce: Hex.encode(Random.bytes(16)), time: time)
    }
  }

  package let method: String
  package let url: RequestURL

  /// The body where it is a form (`application/x-www-form-urlencoded`), as it is sent. Nothing of any
  /// other body is signed: not of multipart, not of JSON.
  private let form: SecretBytes?

  /// - Parameter method: In upper case.
  package init(
    _ method: String, _ url: RequestURL, form: consuming SecretBytes? = nil
  ) throws(OAuthError) {
    guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == 0x2D })
    else { throw .badParameter("method") }
    self.method = method
    self.url = url
    self.form = form
  }

  /// The value of the `Authorization` header. Protocol parameters stand there alone; the request's
  /// own never do.
  ///
  /// - Parameters:
  ///   - body: What is sent where it is no form; only its hash is used, and only where the options
  ///     want it.
  ///   - moment: May be nil with PLAINTEXT, which needs neither nonce nor time.
  /// - Throws: ``OAuthError``.
  package borrowing func authorization(
    by credentials: borrowing SigningCredentials, _ signer: RequestSigner, _ moment: Moment?,
    _ options: Options = Options(), body: RawSpan? = nil
  ) throws(OAuthError) -> SecretBytes {
    var parameters = try protocolParameters(credentials, signer, moment, options, body)
    let protocolCount = parameters.count
    try appendOwn(to: &parameters)
    if let name = parameters.firstName(from: protocolCount, withPrefix: "oauth_") {
      throw .repeatedParameter(name)
    }
    let baseString = Self.baseString(method, url.base, parameters)
    let signature = try baseString.withBytes { baseString throws(OAuthError) in
      let nothing: InlineArray<0, UInt8> = []
      // No bytes, of no owner.
      return switch credentials.tokenSecret {
      case .some(let secret):
        try secret.withBytes { secret throws(OAuthError) in
          try signer.signature(
            of: baseString, clientSecret: credentials.clientSecret, tokenSecret: secret)
        }
      case .none:
        try signer.signature(
          of: baseString, clientSecret: credentials.clientSecret,
          tokenSecret: unsafe nothing.span.bytes)
      }
    }
    return try AuthorizationHeader.write(
      realm: options.realm, parameters, count: protocolCount, signature: signature)
  }

  private func protocolParameters(
    _ credentials: borrowing SigningCredentials, _ signer: RequestSigner, _ moment: Moment?,
    _ options: Options, _ body: RawSpan?
  ) throws(OAuthError) -> ParameterList {
    if signer.isPlaintext, !url.isPrivate {
      throw .insecure("PLAINTEXT without TLS shows both secrets")
    }
    guard moment != nil || signer.isPlaintext else { throw .badParameter("oauth_nonce") }
    var parameters = ParameterList()
    parameters.append("oauth_consumer_key", credentials.clientID)
    if let moment {
      guard !moment.nonce.isEmpty, moment.nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { throw .badParameter("oauth_nonce") }
      guard moment.time.seconds > 0 else { throw .badParameter("oauth_timestamp") }
      parameters.append("oauth_nonce", moment.nonce)
      parameters.append("oauth_signature_method", signer.name)
      parameters.append("oauth_timestamp", String(moment.time.seconds))
    } else {
      parameters.append("oauth_signature_method", signer.name)
    }
    switch credentials.token {
    case .some(let token): parameters.append("oauth_token", token)
    case .none: break
    }
    if options.sendsVersion { parameters.append("oauth_version", "1.0") }
    for (name, value) in options.extra {
      guard name.hasPrefix("oauth_") else { throw .badParameter(name) }
      guard parameters.firstName(from: 0, withPrefix: name) == nil else {
        throw .repeatedParameter(name)
      }
      parameters.append(name, value)
    }
    if options.sendsBodyHash {
      parameters.append("oauth_body_hash", try bodyHash(signer, body))
    }
    return parameters
  }

  private func bodyHash(_ signer: RequestSigner, _ body: RawSpan?) throws(OAuthError) -> String {
    guard let hash = signer.bodyHash else {
      throw .badParameter("oauth_body_hash with " + signer.name)
    }
    switch form {
    case .some: throw .badParameter("oauth_body_hash with a form")
    case .none: break
    }
    return try OAuth1Request.bodyHash(body, hash)
  }

  /// base64 of the hash of a body (OAuth Request Body Hash 1.0 draft 4); of nothing where there is no
  /// body.
  package static func bodyHash(
    _ body: RawSpan?, _ hash: RequestSigner.Sign
  ) throws(OAuthError) -> String {
    if let body { return Base64.encode(try hash(body)) }
    let nothing: InlineArray<0, UInt8> = []
    // No bytes, of no owner.
    return Base64.encode(try hash(unsafe nothing.span.bytes))
  }

  private func appendOwn(to parameters: inout ParameterList) throws(OAuthError) {
    if let query = url.query { try parameters.append(query: query) }
    switch form {
    case .some(let form):
      try form.withBytes { form throws(OAuthError) in try parameters.append(form: form) }
    case .none: break
    }
  }

  /// The signature base string (section 3.4.1.1): method, address and parameters, each encoded, with
  /// exactly two `&` between them.
  package static func baseString(
    _ method: String, _ baseURI: String, _ parameters: borrowing ParameterList
  ) -> SecretBytes {
    let room = method.utf8.count + 2 + 3 * baseURI.utf8.count + parameters.encodedCount
    var text = WipedBytes(capacity: room)
    text.append(method, .strict)
    text.append(UInt8(ascii: "&"))
    text.append(baseURI, .strict)
    text.append(UInt8(ascii: "&"))
    parameters.writeNormalized(to: &text)
    return text.finish()
  }
}
