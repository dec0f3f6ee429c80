internal import Encoding

/// Takes what a C function writes into memory on the stack, as a value.
enum Output {
  /// - Parameter body: Writes exactly 16 bytes to the address, which is valid only inside.
  @inline(__always)
  static func key16(_ body: (UnsafeMutablePointer<UInt8>) -> Void) -> Key16 {
    var words = InlineArray<2, UInt64>(repeating: 0)
    unsafe write(to: &words, body)
    return Key16(high: UInt64(bigEndian: words[0]), low: UInt64(bigEndian: words[1]))
  }

  /// - Parameter body: Writes exactly 32 bytes to the address, which is valid only inside.
  @inline(__always)
  static func digest32(_ body: (UnsafeMutablePointer<UInt8>) -> Void) -> Digest32 {
    var words = InlineArray<4, UInt64>(repeating: 0)
    unsafe write(to: &words, body)
    return Digest32(words: [
      UInt64(bigEndian: words[0]), UInt64(bigEndian: words[1]),
      UInt64(bigEndian: words[2]), UInt64(bigEndian: words[3]),
    ])
  }

  @inline(__always)
  private static func write<Words: BitwiseCopyable>(
    to words: inout Words, _ body: (UnsafeMutablePointer<UInt8>) -> Void
  ) {
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
      unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0.baseAddress!) }
    }
  }
}
