package import Sodium

/// The secrets of a credential.
///
/// As a sealed row: fields 1 access token, 2 refresh token, 3 token secret (OAuth 1.0a), 4 the private
/// scalar of the key that the tokens are bound to (RFC 9449), padded to a multiple of 256 bytes, so that the length of the row does not name the provider.
package struct CredentialSecret: ~Copyable, Sendable {
  static let block = 256

  package var accessToken: SecretBytes
  package var refreshToken: SecretBytes?
  /// The second half of an OAuth 1.0a token, which signs and is never sent.
  package var tokenSecret: SecretBytes?
  /// The scalar of a P-256 key, 32 bytes. A lost one is a lost grant (RFC 9449 section 5).
  package var proofKey: SecretBytes?

  package init(
    accessToken: consuming SecretBytes, refreshToken: consuming SecretBytes? = nil,
    tokenSecret: consuming SecretBytes? = nil, proofKey: consuming SecretBytes? = nil
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.tokenSecret = tokenSecret
    self.proofKey = proofKey
  }

  /// The same once more.
  package borrowing func copy() -> CredentialSecret {
    var refresh: SecretBytes?
    switch refreshToken {
    case .some(let token): refresh = token.copy()
    case .none: break
    }
    var token: SecretBytes?
    switch tokenSecret {
    case .some(let secret): token = secret.copy()
    case .none: break
    }
    var proof: SecretBytes?
    switch proofKey {
    case .some(let key): proof = key.copy()
    case .none: break
    }
    return CredentialSecret(
      accessToken: accessToken.copy(), refreshToken: refresh, tokenSecret: token, proofKey: proof)
  }

  /// The plaintext of the sealed row.
  package borrowing func packed() -> SecretBytes {
    var writer = SecretWriter(
      capacity: CredentialSecret.length(of: accessToken)
        + CredentialSecret.length(ofOptional: refreshToken)
        + CredentialSecret.length(ofOptional: tokenSecret)
        + CredentialSecret.length(ofOptional: proofKey))
    writer.field(1, accessToken)
    switch refreshToken {
    case .some(let token): writer.field(2, token)
    case .none: break
    }
    switch tokenSecret {
    case .some(let secret): writer.field(3, secret)
    case .none: break
    }
    switch proofKey {
    case .some(let key): writer.field(4, key)
    case .none: break
    }
    var packed = writer.finish()
    packed.pad(block: CredentialSecret.block)
    return packed
  }

  /// Takes the plaintext of a sealed row apart.
  ///
  /// - Throws: `SodiumError.badEncoding` for every form but the one that ``packed()`` makes, a field
  ///   of another tag among them.
  package init(unpacking plaintext: consuming SecretBytes) throws(SodiumError) {
    var packed = plaintext
    try packed.unpad(block: CredentialSecret.block)
    guard let accessToken = try SecretFields.field(1, of: packed) else { throw .badEncoding }
    let refreshToken = try SecretFields.field(2, of: packed)
    let tokenSecret = try SecretFields.field(3, of: packed)
    let proofKey = try SecretFields.field(4, of: packed)
    let known =
      CredentialSecret.length(of: accessToken)
      + CredentialSecret.length(ofOptional: refreshToken)
      + CredentialSecret.length(ofOptional: tokenSecret)
      + CredentialSecret.length(ofOptional: proofKey)
    guard known == packed.count else { throw .badEncoding }
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.tokenSecret = tokenSecret
    self.proofKey = proofKey
  }

  /// The length of a field: tag, length, bytes.
  private static func length(of secret: borrowing SecretBytes) -> Int { 5 + secret.count }

  private static func length(ofOptional secret: borrowing SecretBytes?) -> Int {
    switch secret {
    case .some(let secret): length(of: secret)
    case .none: 0
    }
  }
}
