/// Why libcrypto did not do what was asked of it. Never names a key or what was signed.
package enum CryptoError: Error, Equatable, Sendable {
  /// This libcrypto, or how it is configured, does not have the algorithm.
  case unavailable(String)
  /// No PEM of a key, a damaged one, or one under a passphrase.
  case unreadableKey
  /// A key of another algorithm or curve than the operation needs.
  case wrongKey(expected: String)
  /// An RSA key below ``RSA/minimumBits``, whose factors anybody could find.
  case weakKey(bits: Int)
  /// libcrypto would not sign with a key that it did read.
  case cannotSign
}
