internal import Sodium

/// The strings of a document, one after the other in memory that is wiped.
struct JSONStore: ~Copyable {
  private var bytes: SecretBytes

  private var used: Int32 = 0

  /// - Parameter capacity: Bytes, at most `Int32.max`.
  init(capacity: Int) { bytes = SecretBytes(count: capacity) }

  /// Copies `part` behind what is there.
  ///
  /// - Returns: Where it lies. It never moves.
  mutating func append(_ part: RawSpan) -> Range<Int32> {
    let start = Int(used)
    bytes.withMutableBytes { room in
      unsafe room.withUnsafeMutableBytes { room in
        unsafe part.withUnsafeBytes { part in
          // The room is ours for the length of this call; a part that does not fit traps.
          let place = unsafe UnsafeMutableRawBufferPointer(
            rebasing: room[start..<start + part.count])
          unsafe place.copyMemory(from: part)
        }
      }
    }
    used += Int32(part.byteCount)
    return Int32(start)..<used
  }

  borrowing func text(_ range: Range<Int32>) -> String {
    withBytes(range) { part in
      unsafe part.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  borrowing func secret(_ range: Range<Int32>) -> SecretBytes {
    withBytes(range) { SecretBytes(copying: $0) }
  }

  /// Byte for byte: Swift compares strings by canonical equivalence, JSON's names are code points.
  borrowing func holds(_ text: String, at range: Range<Int32>) -> Bool {
    withBytes(range) { part in
      unsafe part.withUnsafeBytes { unsafe $0.elementsEqual(text.utf8) }
    }
  }

  private borrowing func withBytes<R: ~Copyable>(
    _ range: Range<Int32>, _ body: (RawSpan) -> R
  ) -> R {
    bytes.withBytes { body($0.extracting(Int(range.lowerBound)..<Int(range.upperBound))) }
  }
}
