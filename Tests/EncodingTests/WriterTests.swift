import Encoding
import Testing

@Suite struct `Written values` {
  static func everything() -> [UInt8] {
    var writer = Writer()
    writer.u8(0x01)
    writer.u16(0x0203)
    writer.u32(0x0405_0607)
    writer.u64(0x0809_0a0b_0c0d_0e0f)
    writer.i64(-2)
    writer.field([0xaa, 0xbb])
    writer.field("é")
    writer.optional("x")
    writer.optional(nil as String?)
    writer.optional(Int64.min)
    writer.optional(nil as Int64?)
    writer.list(["a", ""])
    writer.raw([0xcc])
    writer.key(Key16([UInt8](1...16)))
    writer.digest(Digest32([UInt8](101...132)))
    return writer.bytes
  }

  @Test func `are these bytes for ever`() {
    #expect(
      Hex.encode(Self.everything())
        == "01" + "0203" + "04050607" + "08090a0b0c0d0e0f" + "fffffffffffffffe"
        + "00000002aabb" + "00000002c3a9" + "010000000178" + "00" + "018000000000000000" + "00"
        + "00000002" + "0000000161" + "00000000" + "cc" + "0102030405060708090a0b0c0d0e0f10"
        + "65666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384")
  }

  private func readEverything(_ bytes: [UInt8]) throws {
    var reader = Reader(bytes)
    #expect(try reader.u8() == 0x01)
    #expect(try reader.u16() == 0x0203)
    #expect(try reader.u32() == 0x0405_0607)
    #expect(try reader.u64() == 0x0809_0a0b_0c0d_0e0f)
    #expect(try reader.i64() == -2)
    #expect(try reader.field() == [0xaa, 0xbb])
    #expect(try reader.text() == "é")
    #expect(try reader.optionalText() == "x")
    #expect(try reader.optionalText() == nil)
    #expect(try reader.optionalInt64() == .min)
    #expect(try reader.optionalInt64() == nil)
    #expect(try reader.list() == ["a", ""])
    #expect(try reader.raw(1) == [0xcc])
    #expect(try reader.key() == Key16([UInt8](1...16)))
    #expect(try reader.digest() == Digest32([UInt8](101...132)))
    try reader.end()
  }

  @Test func `are read back`() throws {
    try readEverything(Self.everything())
  }

  private func readQuietly(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    _ = try reader.u8()
    _ = try reader.u16()
    _ = try reader.u32()
    _ = try reader.u64()
    _ = try reader.i64()
    _ = try reader.field()
    _ = try reader.text()
    _ = try reader.optionalText()
    _ = try reader.optionalText()
    _ = try reader.optionalInt64()
    _ = try reader.optionalInt64()
    _ = try reader.list()
    _ = try reader.raw(1)
    _ = try reader.key()
    _ = try reader.digest()
    try reader.end()
  }

  @Test func `cut anywhere are refused`() {
    let bytes = Self.everything()
    for count in 0..<bytes.count {
      #expect(throws: EncodingError.truncated, "cut to \(count)") {
        try readQuietly(Array(bytes.prefix(count)))
      }
    }
  }

  @Test func `with a byte behind them are refused`() {
    #expect(throws: EncodingError.trailing) { try readQuietly(Self.everything() + [0]) }
  }

  @Test(arguments: [[2], [0xff], [0x80, 0, 0, 0, 0]] as [[UInt8]])
  func `with a flag that is neither 0 nor 1 are refused`(_ bytes: [UInt8]) {
    #expect(throws: EncodingError.notCanonical("a flag is neither 0 nor 1")) {
      var reader = Reader(bytes)
      _ = try reader.optionalText()
    }
    #expect(throws: EncodingError.notCanonical("a flag is neither 0 nor 1")) {
      var reader = Reader(bytes)
      _ = try reader.optionalInt64()
    }
  }

  @Test func `with lengths and counts beyond what is left are refused`() {
    let huge: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]
    #expect(throws: EncodingError.truncated) {
      var reader = Reader(huge)
      _ = try reader.field()
    }
    #expect(throws: EncodingError.truncated) {
      var reader = Reader(huge)
      _ = try reader.list()
    }
    #expect(throws: EncodingError.truncated) {
      var reader = Reader([])
      _ = try reader.raw(-1)
    }
    #expect(throws: EncodingError.truncated) {
      // Two texts are promised where one fits.
      var reader = Reader([0, 0, 0, 2, 0, 0, 0, 0])
      _ = try reader.list()
    }
  }

  /// Overlong, half a surrogate pair, beyond Unicode, cut, a lone continuation byte.
  @Test(
    arguments: [
      [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80], [0xff],
    ] as [[UInt8]])
  func `with text that is not UTF-8 are refused`(_ bytes: [UInt8]) {
    var writer = Writer()
    writer.field(bytes)
    let written = writer.bytes
    #expect(throws: EncodingError.notCanonical("text is not UTF-8")) {
      var reader = Reader(written)
      _ = try reader.text()
    }
  }

  @Test func `keep text as it was spelled`() throws {
    // Equal as Swift compares, but not the same bytes.
    for text in ["\u{e9}", "e\u{301}", "\0", ""] {
      var writer = Writer()
      writer.field(text)
      var reader = Reader(writer.bytes)
      let back = try reader.text()
      #expect(Array(back.utf8) == Array(text.utf8))
    }
  }

  @Test func `tell apart the same letters in other parts`() {
    var one = Writer()
    one.field("ab")
    one.field("c")
    var other = Writer()
    other.field("a")
    other.field("bc")
    #expect(one.bytes != other.bytes)
  }
}
