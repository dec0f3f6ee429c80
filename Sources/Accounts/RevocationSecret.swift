package import Sodium

/// What a revocation is sent with.
///
/// As a sealed row: fields 1 the credential's secret as it was sealed, 2 the secret of the client where
/// that was removed since, padded to a multiple of 256 bytes.
package struct RevocationSecret: ~Copyable, Sendable {
  package let credential: CredentialSecret
  package var clientSecret: SecretBytes?

  package init(
    credential: consuming CredentialSecret, clientSecret: consuming SecretBytes? = nil
  ) {
    self.credential = credential
    self.clientSecret = clientSecret
  }

  /// The plaintext of the sealed row.
  package borrowing func packed() -> SecretBytes {
    let inner = credential.packed()
    var length = 5 + inner.count
    switch clientSecret {
    case .some(let secret): length += 5 + secret.count
    case .none: break
    }
    var writer = SecretWriter(capacity: length)
    writer.field(1, inner)
    switch clientSecret {
    case .some(let secret): writer.field(2, secret)
    case .none: break
    }
    var packed = writer.finish()
    packed.pad(block: CredentialSecret.block)
    return packed
  }

  /// Takes the plaintext of a sealed row apart.
  ///
  /// - Throws: `SodiumError.badEncoding` for every form but the one that ``packed()`` makes.
  package init(unpacking plaintext: consuming SecretBytes) throws(SodiumError) {
    var packed = plaintext
    try packed.unpad(block: CredentialSecret.block)
    guard let inner = try SecretFields.field(1, of: packed) else { throw .badEncoding }
    let clientSecret = try SecretFields.field(2, of: packed)
    var known = 5 + inner.count
    switch clientSecret {
    case .some(let secret): known += 5 + secret.count
    case .none: break
    }
    guard known == packed.count else { throw .badEncoding }
    credential = try CredentialSecret(unpacking: inner)
    self.clientSecret = clientSecret
  }
}
