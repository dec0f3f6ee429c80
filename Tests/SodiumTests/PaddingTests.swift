import Testing

@testable import Sodium

@Suite struct `A padded length` {
  @Test(arguments: [1, 16, 48, 64, 256]) func `comes off again and hides the length`(_ block: Int)
    throws
  {
    for count in 0...(2 * block + 1) {
      // Ends like padding itself.
      let bytes =
        [UInt8](repeating: 0x80, count: count / 2)
        + [UInt8](repeating: 0, count: count - count / 2)
      let padded = Padding.padded(bytes, block: block)
      #expect(padded.count == (count / block + 1) * block)
      #expect(try Padding.unpadded(padded, block: block) == bytes)
      var secret = SecretBytes(copying: bytes)
      secret.pad(block: block)
      #expect(secret.array == padded)
      try secret.unpad(block: block)
      #expect(secret.array == bytes)
    }
  }

  @Test(
    arguments: [
      [], [0x80], [0, 0, 0, 0], [1, 2, 3, 4], [0x80, 0, 0, 1], [0x80, 0, 0, 0, 0],
      [0x80, 0, 0, 0, 0, 0, 0, 0], [1, 2, 3, 0x81],
    ] as [[UInt8]])
  func `that was never written is refused`(_ bytes: [UInt8]) {
    #expect(throws: SodiumError.badEncoding) { try Padding.unpadded(bytes, block: 4) }
    #expect(throws: SodiumError.badEncoding) {
      var secret = SecretBytes(copying: bytes)
      do {
        try secret.unpad(block: 4)
      } catch {
        let after = secret.array
        #expect(after == bytes, "a refusal leaves the bytes as they were")
        throw error
      }
    }
  }
}
