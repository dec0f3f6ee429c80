package import HTTPTypes
package import OAuth
package import Sodium
import Time

/// How a session reaches providers, by value: what sends, what signs, what waits and what is random.
///
/// The part `AccountVaultNetwork` makes the one of this machine. A session has none of its own, so
/// that a program which never calls out links no network.
public struct Network: Sendable {
  package var transport: any Transport
  package var signatures: Signatures
  package var clock: Clock

  /// Waits until `CLOCK_BOOTTIME` shows so many nanoseconds; false where the task was cancelled before.
  package var wait: @Sendable (_ until: Int64) async -> Bool

  /// A number of the range, each as likely.
  package var random: @Sendable (ClosedRange<Int64>) -> Int64

  /// What servers told about themselves, for as long as the process lives.
  package let origins = Origins()

  /// The documents in which servers tell their addresses, for as long as the process lives.
  package let directory = ServerDirectory()

  package init(
    transport: any Transport, signatures: Signatures, clock: Clock = .system,
    wait: @escaping @Sendable (_ until: Int64) async -> Bool,
    random: @escaping @Sendable (ClosedRange<Int64>) -> Int64
  ) {
    self.transport = transport
    self.signatures = signatures
    self.clock = clock
    self.wait = wait
    self.random = random
  }

  /// Waits so many seconds, sleep of the machine included.
  ///
  /// - Returns: False where the task was cancelled before.
  package func wait(seconds: Int64) async -> Bool {
    await wait(clock.sinceBoot() + seconds * 1_000_000_000)
  }
}

/// The signatures that libcrypto makes, by value.
package struct Signatures: Sendable {
  package var hmacSHA1: RequestSigner

  /// RSA-SHA1 by a private key (PEM, without passphrase).
  package var rsaSHA1: @Sendable (borrowing SecretBytes) throws(OAuthError) -> RequestSigner

  /// The private half of a new key for DPoP: the scalar of P-256, 32 bytes, big-endian.
  package var newProofKey: @Sendable () throws(OAuthError) -> SecretBytes

  /// The key of such a scalar.
  package var proofKey: @Sendable (borrowing SecretBytes) throws(OAuthError) -> DPoP.Key

  /// Signs client assertions (RFC 7523) by a private key (PEM): `ES256` or `RS256` by its kind.
  package var assertionKey:
    @Sendable (borrowing SecretBytes) throws(OAuthError) -> (
      algorithm: String, sign: RequestSigner.Sign
    )

  package init(
    hmacSHA1: RequestSigner,
    rsaSHA1: @escaping @Sendable (borrowing SecretBytes) throws(OAuthError) -> RequestSigner,
    newProofKey: @escaping @Sendable () throws(OAuthError) -> SecretBytes,
    proofKey: @escaping @Sendable (borrowing SecretBytes) throws(OAuthError) -> DPoP.Key,
    assertionKey:
      @escaping @Sendable (borrowing SecretBytes) throws(OAuthError) -> (
        algorithm: String, sign: RequestSigner.Sign
      )
  ) {
    self.hmacSHA1 = hmacSHA1
    self.rsaSHA1 = rsaSHA1
    self.newProofKey = newProofKey
    self.proofKey = proofKey
    self.assertionKey = assertionKey
  }
}
