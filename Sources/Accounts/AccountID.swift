package import Encoding

/// The id that the vault gives to an account: 16 random bytes, shown as 26 letters and digits of
/// lower-case base32.
///
/// It never changes and is never used again, whatever the account is called at the provider.
public struct AccountID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let key: Key16

  package init(_ key: Key16) {
    self.key = key
  }

  /// Reads the text form; nil for anything else.
  public init?(_ text: String) {
    guard let key = Key16(base32: text) else { return nil }
    self.key = key
  }

  /// 26 characters.
  public var text: String { key.base32 }

  public var description: String { text }

  public static func < (a: AccountID, b: AccountID) -> Bool { a.key < b.key }
}
