package import Sodium

/// Bytes that wipe themselves: a passphrase on its way in, a token on its way out.
///
/// There is no text of it, no copy, no description. The bytes are lent for the time of a call.
public struct Secret: ~Copyable, Sendable {
  package var bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) {
    self.bytes = bytes
  }

  /// Copies the bytes; the caller wipes its own.
  public init(copying span: RawSpan) {
    bytes = SecretBytes(copying: span)
  }

  /// Takes the bytes over and overwrites the caller's.
  public init(wiping array: inout [UInt8]) {
    bytes = SecretBytes(wiping: &array)
  }

  /// How many bytes it has.
  public var count: Int { bytes.count }

  /// Lends the bytes to `body`; they must not be kept.
  public func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withBytes(body)
  }
}

/// What opens a vault.
public enum Key: ~Copyable, Sendable {
  /// A passphrase, its bytes as they are, or the recovery code as it was written down.
  case passphrase(Secret)
  /// The 32 bytes of a key file.
  case keyFile(Secret)
  /// The key of a vault that is unlocked already, as its agent lends it: worth as much as the vault,
  /// and of no use once the vault has another key.
  case lent(Secret)

  /// The same once more, for what needs the secret after unlocking.
  package borrowing func copy() -> Key {
    switch self {
    case .passphrase(let secret): .passphrase(Secret(secret.bytes.copy()))
    case .keyFile(let secret): .keyFile(Secret(secret.bytes.copy()))
    case .lent(let secret): .lent(Secret(secret.bytes.copy()))
    }
  }
}

extension SecretBytes {
  consuming func asSecret() -> Secret { Secret(self) }
}
