import Encoding
import Sodium

/// The public key that checkpoints of a ledger are checked with, with its name.
///
/// As text, in the form of C2SP signed-note tools: `NAME+HEXKEYID+BASE64(0x01 ‖ public key)`.
///
/// It must come from outside the file that it checks. A key that was read from the same file proves
/// nothing: whoever forged the ledger put his own key beside it.
public struct VerifierKey: Hashable, Sendable {
  /// Ed25519, in the registry of signature types of C2SP signed-note.
  static let signatureType: UInt8 = 0x01

  /// The origin of the ledger, `vault/<vault id>/<branch>`.
  public let name: String
  /// 32 bytes, RFC 8032.
  package let publicKey: [UInt8]
  /// The first four bytes of a hash of name and key, big-endian.
  public let keyID: UInt32

  /// - Precondition: the name is one (no spaces, no plus) and the key has 32 bytes.
  package init(name: String, publicKey: [UInt8]) {
    precondition(NoteText.isKeyName(name) && publicKey.count == 32)
    self.name = name
    self.publicKey = publicKey
    keyID = VerifierKey.keyID(name: name, publicKey: publicKey)
  }

  /// Reads the text form.
  ///
  /// - Throws: ``NoteError/malformed(_:)``, also where the key id is not that of name and key: a
  ///   cut-off or mixed-up text is found before anything is checked with it.
  public init(parsing text: String) throws(NoteError) {
    // Base64 has a plus of its own, so only the first two separate.
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 3, NoteText.isKeyName(parts[0]) else { throw .malformed("verifier key") }
    guard let key = Base64.decode(parts[2]), key.count == 33, key[0] == VerifierKey.signatureType
    else { throw .malformed("verifier key: not an Ed25519 key") }
    self.init(name: parts[0], publicKey: Array(key[1...]))
    guard NoteText.same(parts[1], hexKeyID) else { throw .malformed("verifier key: key id") }
  }

  /// The text form.
  public var text: String {
    "\(name)+\(hexKeyID)+\(Base64.encode([VerifierKey.signatureType] + publicKey))"
  }

  private var hexKeyID: String {
    var writer = Writer()
    writer.u32(keyID)
    return Hex.encode(writer.bytes)
  }

  /// The first four bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key).
  static func keyID(name: String, publicKey: [UInt8]) -> UInt32 {
    let input = Array(name.utf8) + [NoteText.newline, signatureType] + publicKey
    return SHA256.digest(input).bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
