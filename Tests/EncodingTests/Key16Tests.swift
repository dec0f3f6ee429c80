import Encoding
import Testing

@Suite struct `A key of sixteen bytes` {
  static let keys: [Key16] = {
    var generator = SystemRandomNumberGenerator()
    var keys = (0..<200).map { _ in
      Key16((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
    for place in 0..<16 {
      var bytes = [UInt8](repeating: 0x7f, count: 16)
      bytes[place] = 0x80
      keys.append(Key16(bytes))
    }
    return keys
  }()

  @Test func `gives back its bytes`() {
    let bytes = [UInt8](0xf0...0xff)
    let key = Key16(bytes)
    #expect(key.bytes == bytes)
    #expect(key.withBytes { $0.withUnsafeBytes { Array($0) } } == bytes)
    #expect(bytes.withBytes { Key16($0) } == key)
    #expect(key.base32 == "6dy7f47u6x3pp6hz7l57z7p674")
    #expect(Key16(base32: key.base32) == key)
  }

  @Test func `is ordered as its bytes are`() {
    for left in Self.keys {
      for right in Self.keys {
        #expect((left < right) == left.bytes.lexicographicallyPrecedes(right.bytes))
      }
    }
  }

  @Test(arguments: ["", "6dy7f47u6x3pp6hz7l57z7p6", "6dy7f47u6x3pp6hz7l57z7p674aaaaaa"])
  func `is not made of text of another length`(_ text: String) {
    #expect(Key16(base32: text) == nil)
  }

  @Test func `is never made of fifteen bytes`() async {
    await #expect(processExitsWith: .failure) { _ = Key16([UInt8](repeating: 0, count: 15)) }
  }
}

@Suite struct `A digest of 32 bytes` {
  @Test func `gives back its bytes`() {
    let bytes = [UInt8](0xe0...0xff)
    let digest = Digest32(bytes)
    #expect(digest.bytes == bytes)
    #expect(digest.withBytes { $0.withUnsafeBytes { Array($0) } } == bytes)
    #expect(bytes.withBytes { Digest32($0) } == digest)
    #expect(Digest32(base32: digest.base32) == digest)
    #expect(Digest32.zero.bytes == [UInt8](repeating: 0, count: 32))
  }

  @Test func `is ordered as its bytes are, and equal only in all of them`() {
    for place in 0..<32 {
      var bytes = [UInt8](repeating: 0x7f, count: 32)
      let low = Digest32(bytes)
      bytes[place] = 0x80
      let high = Digest32(bytes)
      #expect(low < high)
      #expect(!(high < low))
      #expect(low != high)
    }
  }

  @Test func `is not made of a key's text`() {
    #expect(Digest32(base32: Key16([UInt8](1...16)).base32) == nil)
  }

  @Test func `is never made of 33 bytes`() async {
    await #expect(processExitsWith: .failure) { _ = Digest32([UInt8](repeating: 0, count: 33)) }
  }
}
