/// Reads the fields that ``SecretWriter`` wrote.
package enum SecretFields {
  /// Tag and length.
  static let headerCount = 5

  /// The value of the field with this tag, or nil where there is none.
  ///
  /// The whole sequence is checked at every call, the fields after this one too: a box that opens is
  /// still read as if anybody had written it.
  ///
  /// - Throws: ``SodiumError/badEncoding`` for tags that do not ascend and for lengths that do not
  ///   end with the last byte.
  package static func field(
    _ tag: UInt8, of secret: borrowing SecretBytes
  ) throws(SodiumError) -> SecretBytes? {
    try secret.withBytes { (bytes) throws(SodiumError) in
      guard let range = try range(of: tag, in: bytes) else { return nil }
      return SecretBytes(copying: bytes.extracting(range))
    }
  }

  private static func range(of tag: UInt8, in bytes: RawSpan) throws(SodiumError) -> Range<Int>? {
    var found: Range<Int>?
    var last: UInt8?
    var place = 0
    while place < bytes.byteCount {
      guard bytes.byteCount - place >= headerCount else { throw .badEncoding }
      // Any bit pattern is an integer, and the bounds were just checked.
      let next = unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      let length = unsafe Int(
        UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: place + 1, as: UInt32.self)))
      place += headerCount
      guard last.map({ $0 < next }) ?? true, length <= bytes.byteCount - place else {
        throw .badEncoding
      }
      if next == tag { found = place..<place + length }
      last = next
      place += length
    }
    return found
  }
}
