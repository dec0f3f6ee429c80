package import Encoding
package import Sodium

/// The key that an app shows to the agent: 32 random bytes, as text `vapp_` and 56 characters.
///
/// The vault keeps a keyed hash alone.
package struct AppKey: ~Copyable, Sendable {
  private static let form = KeyText(prefix: "vapp_", checkLabel: "vault/app-key/check/1")

  /// The length of the text form.
  package static var textCount: Int { form.textCount }

  private let key: SecretBytes

  /// A new key.
  package static func random() -> AppKey {
    AppKey(key: SecretBytes.random(count: KeyText.keyCount))
  }

  init(key: consuming SecretBytes) {
    self.key = key
  }

  /// Reads the text form. Upper case, spaces and line ends are not part of it.
  ///
  /// - Throws: A fault; it never holds a part of the text.
  package init(parsing text: borrowing SecretBytes) throws(KeyText.Fault) {
    key = try AppKey.form.key(of: text)
  }

  /// The text form, which is shown once.
  package borrowing func text() -> SecretBytes { AppKey.form.text(of: key) }

  /// What the vault keeps of the key. Under a key of the vault's own, so that a copy of the file
  /// does not even confirm a key that was found elsewhere.
  package borrowing func hash(under vaultKey: borrowing SecretBytes) -> Digest32 {
    key.withBytes { KeyedHash.digest32($0, key: vaultKey) }
  }
}
