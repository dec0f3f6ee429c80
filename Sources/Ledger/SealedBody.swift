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
    let content = commitmentKey + entry.body
    let leaf = Leaf(
      number: entry.number, minute: Leaf.minute(of: entry.time),
      commitment: content.withBytes { commitment(of: $0) })
    return (leaf, Padding.padded(content, block: block))
  }

  /// Opens a plaintext and checks it against its leaf.
  ///
  /// - Throws: What ``check(_:leaf:)`` and ``Entry/init(body:)`` throw, and
  ///   ``LedgerError/malformed(_:)`` where number or minute are not those of the leaf.
  package static func open(_ plaintext: [UInt8], leaf: Leaf) throws(LedgerError) -> Entry {
    let end = try plaintext.withBytes { (plaintext) throws(LedgerError) in
      try check(plaintext, leaf: leaf)
    }
    let entry = try Entry(body: Array(plaintext[keyCount..<end]))
    guard entry.number == leaf.number, Leaf.minute(of: entry.time) == leaf.minute else {
      throw .malformed("entry body: not the number and minute of its leaf")
    }
    return entry
  }

  /// Checks a plaintext against its leaf, and that it has the leaf's number and minute and an event
  /// that this release knows, without decoding the rest and without allocating.
  ///
  /// - Throws: What ``open(_:leaf:)`` throws for these.
  package static func event(of plaintext: RawSpan, leaf: Leaf) throws(LedgerError) -> Event {
    let end = try check(plaintext, leaf: leaf)
    // Version, number, time, event: the body's first bytes.
    guard end >= keyCount + 18 else { throw .malformed("entry body: truncated") }
    let version = plaintext.byte(keyCount)
    guard version == Entry.bodyVersion else { throw .newerVersion(version) }
    // Two big-endian integers, which is what a key of 16 bytes is.
    let head = Key16(plaintext.extracting(keyCount + 1..<keyCount + 17))
    let time = Timestamp(seconds: Int64(bitPattern: head.low))
    guard head.high == leaf.number, Leaf.minute(of: time) == leaf.minute else {
      throw .malformed("entry body: not the number and minute of its leaf")
    }
    let code = plaintext.byte(keyCount + 17)
    guard let event = Event(code: code) else { throw .unknownEvent(code: code) }
    return event
  }

  /// Checks a plaintext against its leaf without decoding the entry and without allocating.
  ///
  /// A body that was exchanged for another one, even for one that was sealed with the right key, is
  /// found here: only the body that was there when the leaf went into the tree fits.
  ///
  /// - Returns: Where the body ends; it begins after the 32 bytes of the key.
  /// - Throws: ``LedgerError/commitmentMismatch(_:)`` with the leaf's number, or
  ///   ``LedgerError/malformed(_:)``.
  @discardableResult
  package static func check(_ plaintext: RawSpan, leaf: Leaf) throws(LedgerError) -> Int {
    guard let end = contentEnd(of: plaintext), end > keyCount else {
      throw .malformed("sealed body: length or padding")
    }
    guard commitment(of: plaintext.extracting(0..<end)) == leaf.commitment else {
      throw .commitmentMismatch(leaf.number)
    }
    return end
  }

  /// The commitment to what follows the key, under the key.
  private static func commitment(of content: RawSpan) -> Digest32 {
    BLAKE2b.digest32(
      content.extracting(keyCount..<content.byteCount), key: content.extracting(0..<keyCount))
  }

  /// Where the content ends that `Padding` padded (ISO/IEC 7816-4: 0x80, then zeros up to the
  /// block), or nil where it is not so padded. It is read after the seal was opened, so the time
  /// that it takes is no oracle.
  private static func contentEnd(of padded: RawSpan) -> Int? {
    let count = padded.byteCount
    guard count > 0, count % block == 0 else { return nil }
    for place in stride(from: count - 1, through: count - block, by: -1) {
      let byte = padded.byte(place)
      if byte == 0x80 { return place }
      guard byte == 0 else { return nil }
    }
    return nil
  }
}
