import Encoding
import Sodium
import Time

/// What is sealed beside a leaf: the key of its commitment, then the entry's body, padded to a
/// multiple of 64 bytes so that the length does not tell what happened.
///
/// The sealing itself is the store's. Rotating its keys seals this plaintext anew and changes
/// neither the leaf nor any proof.
package enum SealedBody {
  static let block = 64
  static let keyCount = 32

  /// Makes the leaf of an entry and the plaintext that is sealed beside it, under a fresh random
  /// commitment key.
  package static func make(_ entry: Entry) -> (leaf: Leaf, plaintext: [UInt8]) {
    make(entry, commitmentKey: Random.bytes(keyCount))
  }

  /// - Parameter commitmentKey: 32 random bytes, never used for another entry: under one key two
  ///   equal bodies would show as equal.
  static func make(_ entry: Entry, commitmentKey: [UInt8]) -> (leaf: Leaf, plaintext: [UInt8]) {
    let body = entry.body
    let leaf = Leaf(
      number: entry.number, minute: Leaf.minute(of: entry.time),
      commitment: commitment(to: body[...], under: commitmentKey[...]))
    return (leaf, Padding.padded(commitmentKey + body, block: block))
  }

  /// Opens a plaintext and checks it against its leaf.
  ///
  /// A body that was exchanged for another one, even for one that was sealed with the right key, is
  /// found here: only the body that was there when the leaf went into the tree fits.
  ///
  /// - Throws: ``LedgerError/commitmentMismatch(_:)`` with the leaf's number, or what
  ///   ``Entry/init(body:)`` throws.
  package static func open(_ plaintext: [UInt8], leaf: Leaf) throws(LedgerError) -> Entry {
    let content: [UInt8]
    do {
      content = try Padding.unpadded(plaintext, block: block)
    } catch {
      throw .malformed("sealed body: padding")
    }
    guard content.count > keyCount else { throw .malformed("sealed body: length") }
    let key = content[..<keyCount]
    let body = content[keyCount...]
    guard commitment(to: body, under: key) == leaf.commitment else {
      throw .commitmentMismatch(leaf.number)
    }
    let entry = try Entry(body: Array(body))
    guard entry.number == leaf.number, Leaf.minute(of: entry.time) == leaf.minute else {
      throw .malformed("entry body: not the number and minute of its leaf")
    }
    return entry
  }

  private static func commitment(
    to body: ArraySlice<UInt8>, under key: ArraySlice<UInt8>
  ) -> Digest32 {
    // Bytes without padding, lent for the call.
    unsafe BLAKE2b.digest32(body.span.bytes, key: key.span.bytes)
  }
}
