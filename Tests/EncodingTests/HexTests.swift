import Encoding
import Testing

@Suite struct `Hexadecimal text` {
  @Test func `is two lower-case digits a byte`() throws {
    let bytes = [UInt8](0...255)
    let text = Hex.encode(bytes)
    #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
    #expect(text.hasSuffix("fdfeff"))
    #expect(try Hex.decode(text) == bytes)
    #expect(try Hex.decode("") == [])
  }

  @Test(arguments: ["0", "000", "0A", "0g", "0x00", " 00", "00 ", "-1", "é0"])
  func `in any other form is refused`(_ text: String) {
    #expect(throws: EncodingError.self) { try Hex.decode(text) }
  }
}
