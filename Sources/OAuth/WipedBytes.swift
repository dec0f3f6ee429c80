internal import Encoding
internal import Sodium

/// Bytes that are put together and may hold secrets: every place that they lay in is wiped.
struct WipedBytes: ~Copyable {
  private var storage: SecretBytes
  private(set) var count = 0

  init(capacity: Int) {
    storage = SecretBytes(count: max(capacity, 64))
  }

  /// Makes room for `more` bytes and lends it all.
  ///
  /// - Parameter body: Writes from `end` on, at most as many bytes as were asked for, and moves it.
  @inline(__always)
  mutating func fill<E: Error>(
    _ more: Int, _ body: (_ target: inout MutableRawSpan, _ end: inout Int) throws(E) -> Void
  ) throws(E) {
    if count + more > storage.count { grow(more) }
    var end = count
    try storage.withMutableBytes { target throws(E) in try body(&target, &end) }
    count = end
  }

  /// Where the memory is too small the bytes move, and their old place is wiped.
  private mutating func grow(_ more: Int) {
    var larger = SecretBytes(count: max(storage.count * 2, count + more))
    let count = count
    storage.withBytes { old in
      larger.withMutableBytes { new in
        var end = 0
        Self.write(old.extracting(0..<count), to: &new, at: &end)
      }
    }
    storage = larger
  }

  mutating func append(_ byte: UInt8) {
    fill(1) { Self.write(byte, to: &$0, at: &$1) }
  }

  mutating func append(_ bytes: RawSpan) {
    fill(bytes.byteCount) { Self.write(bytes, to: &$0, at: &$1) }
  }

  mutating func append(_ text: String) {
    var text = text
    text.makeContiguousUTF8()
    // The text outlives the call.
    unsafe append(text.utf8Span.span.bytes)
  }

  mutating func append(_ bytes: RawSpan, _ encoding: PercentEncoding) {
    // Counted only where the most that it can be does not fit.
    let most = bytes.byteCount * 3
    let room = count + most > storage.count ? encoding.count(bytes) : most
    fill(room) { _ = Self.write(bytes, encoding, to: &$0, at: &$1) }
  }

  mutating func append(_ text: String, _ encoding: PercentEncoding) {
    var text = text
    text.makeContiguousUTF8()
    // The text outlives the call.
    unsafe append(text.utf8Span.span.bytes, encoding)
  }

  borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try storage.withBytes { bytes throws(E) in try body(bytes.extracting(0..<count)) }
  }

  consuming func finish() -> SecretBytes {
    storage.truncate(to: count)
    return storage
  }
}

// MARK: Writing into what is lent

extension WipedBytes {
  @inline(__always)
  static func write(_ byte: UInt8, to target: inout MutableRawSpan, at end: inout Int) {
    target.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
    end += 1
  }

  /// Eight bytes at a time where it can.
  @inline(__always)
  static func write(_ bytes: RawSpan, to target: inout MutableRawSpan, at end: inout Int) {
    var offset = 0
    while offset + 8 <= bytes.byteCount {
      // Any bit pattern is an integer, and the offsets are checked.
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      target.storeBytes(of: word, toByteOffset: end, as: UInt64.self)
      offset += 8
      end += 8
    }
    while offset < bytes.byteCount {
      write(bytes.byte(offset), to: &target, at: &end)
      offset += 1
    }
  }

  /// Writes the bytes encoded; returns how many `%` that made.
  @inline(__always)
  static func write(
    _ bytes: RawSpan, _ encoding: PercentEncoding, to target: inout MutableRawSpan,
    at end: inout Int
  ) -> Int {
    var escapes = 0
    var offset = 0
    while offset < bytes.byteCount {
      offset += writePlain(bytes, offset, bytes.byteCount, to: &target, at: &end)
      guard offset < bytes.byteCount else { break }
      write(bytes.byte(offset), encoding, to: &target, at: &end, &escapes)
      offset += 1
    }
    return escapes
  }

  /// Writes form-encoded bytes as RFC 5849 encodes what they stand for: `+` is a space. Returns how
  /// many `%` that made.
  @inline(__always)
  static func write(
    recoding bytes: RawSpan, _ range: Range<Int>, to target: inout MutableRawSpan,
    at end: inout Int
  ) throws(OAuthError) -> Int {
    var escapes = 0
    var offset = range.lowerBound
    while offset < range.upperBound {
      offset += writePlain(bytes, offset, range.upperBound, to: &target, at: &end)
      guard offset < range.upperBound else { break }
      var byte = bytes.byte(offset)
      offset += 1
      if byte == 0x2B {
        byte = 0x20
      } else if byte == 0x25 {
        guard offset + 2 <= range.upperBound, let high = PercentEncoding.value(bytes.byte(offset)),
          let low = PercentEncoding.value(bytes.byte(offset + 1))
        else { throw .badEscape }
        byte = high << 4 | low
        offset += 2
      }
      write(byte, .strict, to: &target, at: &end, &escapes)
    }
    return escapes
  }

  /// Writes letters and digits, eight at a time, as long as there are no others: they stand for
  /// themselves in either encoding, and most text is nothing else. Returns how many.
  @inline(__always)
  private static func writePlain(
    _ bytes: RawSpan, _ start: Int, _ stop: Int, to target: inout MutableRawSpan,
    at end: inout Int
  ) -> Int {
    var offset = start
    while offset + 8 <= stop {
      // Any bit pattern is an integer, and the offsets are checked.
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard PercentEncoding.areKept(word) else { break }
      target.storeBytes(of: word, toByteOffset: end, as: UInt64.self)
      offset += 8
      end += 8
    }
    return offset - start
  }

  @inline(__always)
  private static func write(
    _ byte: UInt8, _ encoding: PercentEncoding, to target: inout MutableRawSpan, at end: inout Int,
    _ escapes: inout Int
  ) {
    if encoding.keeps(byte) {
      write(byte, to: &target, at: &end)
    } else if encoding == .form, byte == 0x20 {
      write(0x2B, to: &target, at: &end)
    } else {
      write(0x25, to: &target, at: &end)
      write(PercentEncoding.hex(byte >> 4), to: &target, at: &end)
      write(PercentEncoding.hex(byte & 15), to: &target, at: &end)
      escapes += 1
    }
  }
}
