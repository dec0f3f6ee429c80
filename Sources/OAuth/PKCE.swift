internal import Encoding
package import Sodium

/// Proof Key for Code Exchange (RFC 7636), by S256: a plain challenge is the secret itself, and
/// falling back to it is what an attacker wants (RFC 9700 section 4.8).
package struct PKCE: ~Copyable, Sendable {
  /// 43 characters, sent with the code.
  package let verifier: SecretBytes

  /// - Parameter random: 32 bytes nobody foresees.
  package init(random: borrowing SecretBytes = SecretBytes.random(count: 32)) {
    precondition(random.count == 32, "a verifier is made of 32 bytes")
    verifier = random.withBytes { Base64URL.encode($0) }
  }

  /// The one that an interrupted sign-in kept.
  ///
  /// - Throws: ``OAuthError/badParameter(_:)`` unless it has 43 to 128 unreserved characters (section
  ///   4.1).
  package init(verifier: consuming SecretBytes) throws(OAuthError) {
    let isVerifier = verifier.withBytes { bytes in
      guard (43...128).contains(bytes.byteCount) else { return false }
      for offset in 0..<bytes.byteCount {
        guard PercentEncoding.isUnreserved(bytes.byte(offset)) else { return false }
      }
      return true
    }
    guard isVerifier else { throw .badParameter("code_verifier") }
    self.verifier = verifier
  }

  /// Shown in the address that the person opens: of the verifier's text, not of the bytes it was made
  /// from (section 4.2).
  package var challenge: String {
    Base64.encodeURL(verifier.withBytes { SHA256.digest($0) }.bytes)
  }

  /// The verifier as its own challenge, for a provider whose definition says that it knows nothing
  /// better: who reads the address can then use the code.
  package var plainChallenge: String { verifier.withBytes { $0.text ?? "" } }
}
