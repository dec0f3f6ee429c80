internal import Encoding
internal import Sodium

/// Bytes that are put together and may hold secrets: every place that they lay in is wiped.
struct WipedBytes: ~Copyable {
  private var storage: SecretBytes
  private(set) var count = 0

  init(capacity: Int) {
    storage = SecretBytes(count: max(capacity, 64))
  }

  /// Makes room for `more` bytes. Where the memory is too small the bytes move, and their old place is
  /// wiped.
  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if count + more > storage.count { grow(more) }
  }

  private mutating func grow(_ more: Int) {
    var larger = SecretBytes(count: max(storage.count * 2, count + more))
    let count = count
    storage.withBytes { old in
      larger.withMutableBytes { Self.copy(old.extracting(0..<count), to: &$0, at: 0) }
    }
    storage = larger
  }

  mutating func append(_ byte: UInt8) {
    reserve(1)
    let count = count
    storage.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: count, as: UInt8.self) }
    self.count += 1
  }

  mutating func append(_ bytes: RawSpan) {
    reserve(bytes.byteCount)
    let count = count
    storage.withMutableBytes { Self.copy(bytes, to: &$0, at: count) }
    self.count += bytes.byteCount
  }

  /// Eight bytes at a time where it can.
  @inline(__always)
  private static func copy(_ bytes: RawSpan, to target: inout MutableRawSpan, at start: Int) {
    var offset = 0
    while offset + 8 <= bytes.byteCount {
      // Any bit pattern is an integer, and the offsets are checked.
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      target.storeBytes(of: word, toByteOffset: start + offset, as: UInt64.self)
      offset += 8
    }
    while offset < bytes.byteCount {
      target.storeBytes(of: bytes.byte(offset), toByteOffset: start + offset, as: UInt8.self)
      offset += 1
    }
  }

  mutating func append(_ text: String) {
    var text = text
    text.makeContiguousUTF8()
    unsafe append(text.utf8Span.span.bytes)
  }

  /// Appends the bytes encoded; returns how many `%` that made.
  @discardableResult
  mutating func append(_ bytes: RawSpan, _ encoding: PercentEncoding) -> Int {
    // Counted only where the most that it can be does not fit.
    if count + bytes.byteCount * 3 > storage.count { reserve(encoding.count(bytes)) }
    var end = count
    var escapes = 0
    storage.withMutableBytes { target in
      for offset in 0..<bytes.byteCount {
        let byte = bytes.byte(offset)
        Self.write(byte, encoding, to: &target, at: &end, &escapes)
      }
    }
    count = end
    return escapes
  }

  @discardableResult
  mutating func append(_ text: String, _ encoding: PercentEncoding) -> Int {
    var text = text
    text.makeContiguousUTF8()
    return unsafe append(text.utf8Span.span.bytes, encoding)
  }

  /// Appends form-encoded bytes as RFC 5849 encodes what they stand for: `+` is a space. Returns how
  /// many `%` that made.
  mutating func append(
    recoding bytes: RawSpan, _ range: Range<Int>
  ) throws(OAuthError) -> Int {
    reserve(range.count * 3)
    var end = count
    var escapes = 0
    let isForm = storage.withMutableBytes { target in
      var offset = range.lowerBound
      while offset < range.upperBound {
        var byte = bytes.byte(offset)
        offset += 1
        if byte == 0x2B {
          byte = 0x20
        } else if byte == 0x25 {
          guard offset + 2 <= range.upperBound,
            let high = PercentEncoding.value(bytes.byte(offset)),
            let low = PercentEncoding.value(bytes.byte(offset + 1))
          else { return false }
          byte = high << 4 | low
          offset += 2
        }
        Self.write(byte, .strict, to: &target, at: &end, &escapes)
      }
      return true
    }
    guard isForm else { throw .badEscape }
    count = end
    return escapes
  }

  @inline(__always)
  private static func write(
    _ byte: UInt8, _ encoding: PercentEncoding, to target: inout MutableRawSpan, at end: inout Int,
    _ escapes: inout Int
  ) {
    if encoding.keeps(byte) {
      target.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
      end += 1
    } else if encoding == .form, byte == 0x20 {
      target.storeBytes(of: 0x2B, toByteOffset: end, as: UInt8.self)
      end += 1
    } else {
      target.storeBytes(of: 0x25, toByteOffset: end, as: UInt8.self)
      target.storeBytes(of: PercentEncoding.hex(byte >> 4), toByteOffset: end + 1, as: UInt8.self)
      target.storeBytes(of: PercentEncoding.hex(byte & 15), toByteOffset: end + 2, as: UInt8.self)
      end += 3
      escapes += 1
    }
  }

  @inline(__always)
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
