/// Reads what ``Writer`` wrote, and nothing else.
///
/// Lengths and counts are held against what is left before anything is allocated, so a damaged or
/// hostile length costs no memory. After an error the reader's place is undefined; drop it.
package struct Reader: Sendable {
  private let bytes: [UInt8]
  private var place = 0

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The number of bytes not read yet.
  package var remaining: Int { bytes.count - place }

  package mutating func u8() throws(EncodingError) -> UInt8 {
    try integer()
  }

  package mutating func u16() throws(EncodingError) -> UInt16 {
    try integer()
  }

  package mutating func u32() throws(EncodingError) -> UInt32 {
    try integer()
  }

  package mutating func u64() throws(EncodingError) -> UInt64 {
    try integer()
  }

  package mutating func i64() throws(EncodingError) -> Int64 {
    Int64(bitPattern: try integer())
  }

  /// A length and that many bytes.
  package mutating func field() throws(EncodingError) -> [UInt8] {
    let count = Int(try u32())
    return try raw(count)
  }

  /// A length and that many bytes of UTF-8, which must be well formed.
  package mutating func text() throws(EncodingError) -> String {
    let count = Int(try u32())
    guard count <= remaining else { throw .truncated }
    defer { place += count }
    guard let text = String(validating: bytes[place..<place + count], as: UTF8.self) else {
      throw .notCanonical("text is not UTF-8")
    }
    return text
  }

  package mutating func optionalText() throws(EncodingError) -> String? {
    try flag() ? try text() : nil
  }

  package mutating func optionalInt64() throws(EncodingError) -> Int64? {
    try flag() ? try i64() : nil
  }

  /// A count and that many texts.
  package mutating func list() throws(EncodingError) -> [String] {
    let count = Int(try u32())
    // Each text has at least its length: a larger count cannot be true.
    guard count <= remaining / 4 else { throw .truncated }
    var texts: [String] = []
    texts.reserveCapacity(count)
    for _ in 0..<count { texts.append(try text()) }
    return texts
  }

  /// The next `count` bytes.
  package mutating func raw(_ count: Int) throws(EncodingError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw .truncated }
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  package mutating func key() throws(EncodingError) -> Key16 {
    Key16(high: try u64(), low: try u64())
  }

  package mutating func digest() throws(EncodingError) -> Digest32 {
    Digest32(words: [try u64(), try u64(), try u64(), try u64()])
  }

  /// To be called after the last value: bytes that nobody reads could carry anything.
  package func end() throws(EncodingError) {
    guard remaining == 0 else { throw .trailing }
  }

  private mutating func flag() throws(EncodingError) -> Bool {
    switch try u8() {
    case 0: false
    case 1: true
    default: throw .notCanonical("a flag is neither 0 nor 1")
    }
  }

  private mutating func integer<Value: FixedWidthInteger & UnsignedInteger>()
    throws(EncodingError) -> Value
  {
    let count = Value.bitWidth / 8
    guard count <= remaining else { throw .truncated }
    var value: Value = 0
    for index in place..<place + count {
      value = value << 8 | Value(truncatingIfNeeded: bytes[index])
    }
    place += count
    return value
  }
}
