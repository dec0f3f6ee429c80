import Encoding
import Time

/// The forms that the records of this part share beyond those of `Writer` and `Reader`.
extension Writer {
  mutating func time(_ time: Timestamp) {
    i64(time.seconds)
  }

  mutating func optional(_ time: Timestamp?) {
    optional(time?.seconds)
  }

  mutating func flag(_ value: Bool) {
    u8(value ? 1 : 0)
  }

  /// A flag, then the list; nil and the empty list are two things.
  mutating func optionalList(_ texts: [String]?) {
    flag(texts != nil)
    if let texts { list(texts) }
  }
}

extension Reader {
  /// Reads the version byte that every record begins with.
  mutating func version(_ version: UInt8) throws(EncodingError) {
    guard try u8() == version else { throw .notCanonical("version") }
  }

  mutating func time() throws(EncodingError) -> Timestamp {
    Timestamp(seconds: try i64())
  }

  mutating func optionalTime() throws(EncodingError) -> Timestamp? {
    try optionalInt64().map { Timestamp(seconds: $0) }
  }

  mutating func flag() throws(EncodingError) -> Bool {
    switch try u8() {
    case 0: return false
    case 1: return true
    default: throw .notCanonical("flag")
    }
  }

  mutating func textList() throws(EncodingError) -> [String]? {
    try flag() ? try list() : nil
  }

  /// A count of items of at least `least` bytes each; one that the rest cannot hold is refused
  /// before anything is reserved for it.
  mutating func count(least: Int) throws(EncodingError) -> Int {
    let count = Int(try u32())
    guard count <= remaining / least else { throw .notCanonical("count") }
    return count
  }
}

/// Texts in the order of their UTF-8 bytes, the one order that does not depend on Unicode tables.
/// Two texts that Swift calls equal (canonical equivalence) are two texts here: a look-alike name
/// inherits nothing.
func precedes(_ a: String, _ b: String) -> Bool {
  a.utf8.lexicographicallyPrecedes(b.utf8)
}

package func same(_ a: String, _ b: String) -> Bool {
  a.utf8.elementsEqual(b.utf8)
}
