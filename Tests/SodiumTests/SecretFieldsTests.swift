import Encoding
import Testing

@testable import Sodium

@Suite struct `Secret fields` {
  private func written() -> SecretBytes {
    var writer = SecretWriter(capacity: 8)
    writer.field(0, SecretBytes(copying: [UInt8]()))
    writer.field(3, SecretBytes(copying: Array("token".utf8)))
    [UInt8]([9, 9]).withBytes { writer.field(255, $0) }
    return writer.finish()
  }

  private func field(_ tag: UInt8, of bytes: [UInt8]) throws(SodiumError) -> [UInt8]? {
    let found = try SecretFields.field(tag, of: SecretBytes(copying: bytes))
    switch consume found {
    case .some(let value): return value.array
    case .none: return nil
    }
  }

  @Test func `are these bytes for ever`() {
    let bytes = written().array
    #expect(
      Hex.encode(bytes) == "0000000000" + "0300000005746f6b656e" + "ff000000020909")
  }

  @Test func `are found by their tags`() throws {
    let bytes = written().array
    #expect(try field(0, of: bytes) == [])
    #expect(try field(3, of: bytes) == Array("token".utf8))
    #expect(try field(255, of: bytes) == [9, 9])
    #expect(try field(4, of: bytes) == nil)
    #expect(try field(0, of: []) == nil)
  }

  @Test func `larger than any cell are kept whole`() throws {
    let value = Random.bytes(10_000)
    var writer = SecretWriter(capacity: 0)
    for tag in UInt8(1)...4 { writer.field(tag, SecretBytes(copying: value)) }
    let bytes = writer.finish().array
    #expect(bytes.count == 4 * 10_005)
    for tag in UInt8(1)...4 { #expect(try field(tag, of: bytes) == value) }
  }

  @Test func `cut anywhere but between two are refused, whichever is asked for`() throws {
    let bytes = written().array
    for count in 1..<bytes.count {
      let cut = Array(bytes.prefix(count))
      if [5, 15].contains(count) {
        #expect(try field(0, of: cut) == [])
      } else {
        #expect(throws: SodiumError.badEncoding, "cut to \(count)") { try field(0, of: cut) }
      }
    }
  }

  @Test(arguments: [
    "0100000000" + "0100000000", "0200000000" + "0100000000", "01000000ff00", "01ffffffff",
    "0100000000" + "00",
  ])
  func `in any other form are refused`(_ hex: String) throws {
    let bytes = try Hex.decode(hex)
    #expect(throws: SodiumError.badEncoding) { try field(1, of: bytes) }
  }

  @Test func `are never written out of order`() async {
    await #expect(processExitsWith: .failure) {
      var writer = SecretWriter(capacity: 8)
      writer.field(2, SecretBytes(count: 1))
      writer.field(2, SecretBytes(count: 1))
    }
  }
}
