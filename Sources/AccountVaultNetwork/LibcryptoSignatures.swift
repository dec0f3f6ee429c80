package import AccountVault
import Crypto
import OAuth
import Sodium

extension Signatures {
  /// By libcrypto.
  package static let libcrypto = Signatures(
    hmacSHA1: .mac("HMAC-SHA1", bodyHash: sha1) { (message, key) throws(OAuthError) in
      do throws(CryptoError) { return try HMACSHA1.authenticate(message, key: key) } catch {
        throw .cannotSign("\(error)")
      }
    },
    rsaSHA1: { (pem) throws(OAuthError) in
      let key = try RSAKey(pem)
      return .privateKey("RSA-SHA1", bodyHash: sha1) { (message) throws(OAuthError) in
        try key.sign(message, .sha1)
      }
    },
    newProofKey: { () throws(OAuthError) in
      do throws(CryptoError) { return try P256.SigningKey.generate().scalar() } catch {
        throw .cannotSign("\(error)")
      }
    },
    proofKey: { (scalar) throws(OAuthError) in
      let key = try P256Key(scalar: scalar)
      return DPoP.Key(publicKey: try JSONWebKey(key.key.publicKey.jwk)) {
        (message) throws(OAuthError) in
        try key.sign(message)
      }
    },
    assertionKey: { (pem) throws(OAuthError) in
      if let key = try? P256Key(pem: pem) {
        return ("ES256", { (message) throws(OAuthError) in try key.sign(message) })
      }
      let key = try RSAKey(pem)
      return ("RS256", { (message) throws(OAuthError) in try key.sign(message, .sha256) })
    })

  private static let sha1: RequestSigner.Sign = { (message) throws(OAuthError) in
    do throws(CryptoError) { return try SHA1.digest(message) } catch {
      throw .cannotSign("\(error)")
    }
  }
}

/// Holds a key that cannot be copied for a closure that can.
private final class RSAKey: Sendable {
  let key: RSA.SigningKey

  init(_ pem: borrowing SecretBytes) throws(OAuthError) {
    do throws(CryptoError) { key = try RSA.SigningKey(pem: pem) } catch {
      throw .cannotSign("\(error)")
    }
  }

  func sign(_ message: RawSpan, _ hash: RSA.Hash) throws(OAuthError) -> [UInt8] {
    do throws(CryptoError) { return try key.sign(message, hash) } catch {
      throw .cannotSign("\(error)")
    }
  }
}

/// The same for P-256.
private final class P256Key: Sendable {
  let key: P256.SigningKey

  init(scalar: borrowing SecretBytes) throws(OAuthError) {
    do throws(CryptoError) { key = try P256.SigningKey(scalar: scalar) } catch {
      throw .cannotSign("\(error)")
    }
  }

  init(pem: borrowing SecretBytes) throws(OAuthError) {
    do throws(CryptoError) { key = try P256.SigningKey(pem: pem) } catch {
      throw .cannotSign("\(error)")
    }
  }

  func sign(_ message: RawSpan) throws(OAuthError) -> [UInt8] {
    do throws(CryptoError) { return try key.sign(message) } catch {
      throw .cannotSign("\(error)")
    }
  }
}
