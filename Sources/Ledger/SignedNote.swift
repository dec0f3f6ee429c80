import Encoding
package import Sodium

/// A text and the signatures under it, in the C2SP signed-note format.
///
/// ```
/// <text, whose last line ends with a newline>
/// <an empty line>
/// — NAME BASE64(key id ‖ signature)
/// ```
///
/// The text means nothing before ``verify(with:)`` has passed. Signatures by other keys (of
/// witnesses, say) are kept and not judged.
public struct SignedNote: Equatable, Sendable {
  /// One signature line.
  public struct Signature: Equatable, Sendable {
    /// The name of the key that is said to have signed.
    public let name: String
    /// The first four bytes of a hash of name and key, big-endian. It tells keys apart; it is too
    /// short to prove anything.
    public let keyID: UInt32
    package let bytes: [UInt8]
  }

  /// A note may be this long, in bytes; room for 16 post-quantum signatures and more.
  static let maximumBytes = 262_144
  static let maximumSignatures = 64

  /// With its final newline, without the empty line that follows.
  public let text: String
  /// In the order of their lines; none of them is checked yet.
  public let signatures: [Signature]

  /// Reads a note.
  ///
  /// - Throws: ``NoteError/malformed(_:)`` or ``NoteError/tooLarge``.
  public init(parsing note: String) throws(NoteError) {
    let bytes = Array(note.utf8)
    guard bytes.count <= SignedNote.maximumBytes else { throw .tooLarge }
    guard bytes.allSatisfy({ $0 >= 0x20 || $0 == NoteText.newline }) else {
      throw .malformed("control character")
    }
    // The text ends at the last empty line: a signature line is never empty, a text may have
    // empty lines of its own.
    guard
      let end = bytes.indices.dropLast().last(where: {
        bytes[$0] == NoteText.newline && bytes[$0 + 1] == NoteText.newline
      })
    else { throw .malformed("no empty line before the signatures") }
    text = String(decoding: bytes[...end], as: UTF8.self)
    guard
      let lines = NoteText.lines(String(decoding: bytes[(end + 2)...], as: UTF8.self))
    else { throw .malformed("signature line without newline") }
    guard lines.count <= SignedNote.maximumSignatures else { throw .tooLarge }
    var signatures: [Signature] = []
    for line in lines { signatures.append(try Signature(line)) }
    self.signatures = signatures
  }

  /// Signs a text.
  ///
  /// - Parameters:
  ///   - text: ends with a newline and has no other control character.
  ///   - name: the key's name.
  package init(text: String, signedBy key: borrowing SigningKey, name: String) {
    precondition(text.hasSuffix("\n") && NoteText.isKeyName(name))
    self.text = text
    let signature = key.sign(Array(text.utf8))
    let keyID = VerifierKey.keyID(name: name, publicKey: key.publicKey)
    signatures = [Signature(name: name, keyID: keyID, bytes: signature)]
  }

  /// The note as it is passed on.
  public var formatted: String {
    signatures.reduce(into: text + "\n") { note, signature in
      var writer = Writer()
      writer.u32(signature.keyID)
      writer.raw(signature.bytes)
      note += "— \(signature.name) \(Base64.encode(writer.bytes))\n"
    }
  }

  /// Checks that `key` has signed the text.
  ///
  /// A signature counts as the key's where both name and key id are its own; lines by other keys
  /// are passed over, as C2SP asks. Every line that is the key's must hold.
  ///
  /// - Throws: ``NoteError/badSignature(name:)`` where a line of the key does not hold, and
  ///   ``NoteError/notSigned(name:)`` where there is none.
  public func verify(with key: VerifierKey) throws(NoteError) {
    let own = signatures.filter { NoteText.same($0.name, key.name) && $0.keyID == key.keyID }
    guard !own.isEmpty else { throw .notSigned(name: key.name) }
    let signed = Array(text.utf8)
    for signature in own {
      guard
        signature.bytes.count == 64,
        Ed25519.verify(signature.bytes, signed, publicKey: key.publicKey)
      else { throw .badSignature(name: key.name) }
    }
  }
}

extension SignedNote.Signature {
  /// Reads `— NAME BASE64`, the newline taken off.
  fileprivate init(_ line: Substring) throws(NoteError) {
    let start: Substring = "— "
    guard line.utf8.starts(with: start.utf8) else { throw .malformed("signature line") }
    let rest = Array(line.utf8.dropFirst(start.utf8.count))
    let parts = rest.split(
      separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw .malformed("signature line") }
    let name = String(decoding: parts[0], as: UTF8.self)
    guard NoteText.isKeyName(name) else { throw .malformed("key name") }
    guard let bytes = Base64.decode(String(decoding: parts[1], as: UTF8.self)), bytes.count > 4
    else { throw .malformed("signature") }
    self.name = name
    keyID = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
    self.bytes = Array(bytes[4...])
  }
}
