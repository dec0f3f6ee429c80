package import Sodium

/// What was given to unlock a vault. A recovery code comes as a passphrase; the library knows it by
/// its form.
package enum UnlockSecret: ~Copyable {
  /// The bytes of the line, without its newline.
  case passphrase(SecretBytes)
  /// The 32 bytes of a key file.
  case keyFile(SecretBytes)
}
