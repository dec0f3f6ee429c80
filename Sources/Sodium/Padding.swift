internal import CSodium

/// Padding that hides a length up to a block (ISO/IEC 7816-4, as libsodium's `sodium_pad`): a byte
/// 0x80, then zeroes to the next multiple of the block. There is always at least one byte of it.
///
/// A sealed box is as long as what is in it, and the length of a token can name its provider.
package enum Padding {
  /// - Precondition: `block` is positive.
  package static func padded(_ bytes: [UInt8], block: Int) -> [UInt8] {
    var padded = bytes
    let count = paddedCount(bytes.count, block: block)
    padded.reserveCapacity(count)
    padded.append(0x80)
    padded.append(contentsOf: repeatElement(0, count: count - padded.count))
    return padded
  }

  /// - Precondition: `block` is positive.
  /// - Throws: ``SodiumError/badEncoding`` for what ``padded(_:block:)`` cannot have written.
  package static func unpadded(_ bytes: [UInt8], block: Int) throws(SodiumError) -> [UInt8] {
    let count = try unsafe unpaddedCount(bytes.span.bytes, block: block)
    return Array(bytes.prefix(count))
  }

  /// Takes the padding off in place.
  ///
  /// - Precondition: `block` is positive.
  /// - Throws: ``SodiumError/badEncoding`` for what ``padded(_:block:)`` cannot have written.
  package static func unpad(_ bytes: inout [UInt8], block: Int) throws(SodiumError) {
    let count = try unsafe unpaddedCount(bytes.span.bytes, block: block)
    bytes.removeLast(bytes.count - count)
  }

  static func paddedCount(_ count: Int, block: Int) -> Int {
    precondition(block > 0, "a block has at least one byte")
    return count - count % block + block
  }

  static func unpaddedCount(_ bytes: RawSpan, block: Int) throws(SodiumError) -> Int {
    precondition(block > 0, "a block has at least one byte")
    // libsodium looks at the last block alone; that the whole is made of blocks is for us to see.
    guard bytes.byteCount >= block, bytes.byteCount % block == 0 else { throw .badEncoding }
    var unpadded = 0
    let status = unsafe bytes.lend { unsafe sodium_unpad(&unpadded, $0, $1, block) }
    guard status == 0 else { throw .badEncoding }
    return unpadded
  }
}

extension SecretBytes {
  /// Pads in place where the memory has room; else the bytes move and their old place is wiped.
  ///
  /// - Precondition: `block` is positive.
  package mutating func pad(block: Int) {
    let unpadded = count
    extend(to: Padding.paddedCount(count, block: block))
    unsafe start.storeBytes(of: 0x80, toByteOffset: unpadded, as: UInt8.self)
  }

  /// - Precondition: `block` is positive.
  /// - Throws: ``SodiumError/badEncoding`` for what ``pad(block:)`` cannot have written; the bytes
  ///   are then as before.
  package mutating func unpad(block: Int) throws(SodiumError) {
    let unpadded = try withBytes { (bytes) throws(SodiumError) in
      try Padding.unpaddedCount(bytes, block: block)
    }
    truncate(to: unpadded)
  }
}
