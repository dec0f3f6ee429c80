import Testing

@testable import Sodium

@Suite final class `A sealed box` {
  let key = SecretBytes.random(count: 32)
  let associated: [UInt8] = [7, 7, 7]

  @Test(arguments: [0, 1, 63, 64, 65, 256, 5000, 20_000])
  func `opens to what was put in`(_ count: Int) throws {
    let plaintext = Random.bytes(count)
    let box = AEAD.seal(plaintext, associated: associated, key: key)
    #expect(box.count == count + AEAD.overhead)
    let opened = try AEAD.open(box, associated: associated, key: key)
    #expect(opened.array == plaintext)
    let again = AEAD.seal(opened, associated: associated, key: key)
    #expect(again != box, "a nonce is drawn anew")
    #expect(try AEAD.open(again, associated: associated, key: key).array == plaintext)
  }

  @Test func `altered in any bit does not open`() throws {
    let box = AEAD.seal([1, 2, 3, 4, 5], associated: associated, key: key)
    for place in box.indices {
      for bit in 0..<8 {
        var altered = box
        altered[place] ^= 1 << UInt8(bit)
        #expect(throws: SodiumError.cannotOpen) {
          _ = try AEAD.open(altered, associated: associated, key: key)
        }
      }
    }
  }

  @Test func `cut or lengthened does not open`() {
    let box = AEAD.seal([1, 2, 3, 4, 5], associated: associated, key: key)
    for count in 0..<box.count {
      #expect(throws: SodiumError.cannotOpen) {
        _ = try AEAD.open(Array(box.prefix(count)), associated: associated, key: key)
      }
      #expect(throws: SodiumError.cannotOpen) {
        _ = try AEAD.open(Array(box.suffix(count)), associated: associated, key: key)
      }
    }
    #expect(throws: SodiumError.cannotOpen) {
      _ = try AEAD.open(box + [0], associated: associated, key: key)
    }
  }

  @Test(arguments: [[], [7, 7], [7, 7, 7, 0], [7, 7, 6]] as [[UInt8]])
  func `with other associated data is refused`(_ other: [UInt8]) {
    let box = AEAD.seal([1, 2, 3], associated: associated, key: key)
    #expect(throws: SodiumError.cannotOpen) {
      _ = try AEAD.open(box, associated: other, key: key)
    }
  }

  @Test func `under another key is refused`() {
    let box = AEAD.seal([1, 2, 3], associated: associated, key: key)
    let other = SecretBytes.random(count: 32)
    #expect(throws: SodiumError.cannotOpen) {
      _ = try AEAD.open(box, associated: associated, key: other)
    }
  }

  @Test func `opened into a buffer keeps the buffer's length, or makes it longer`() throws {
    var buffer: [UInt8] = []
    let long = AEAD.seal([UInt8](1...9), associated: [], key: key)
    let short = AEAD.seal([42], associated: [], key: key)
    #expect(try AEAD.open(long, associated: [], key: key, into: &buffer) == 9)
    #expect(buffer == [UInt8](1...9))
    #expect(try AEAD.open(short, associated: [], key: key, into: &buffer) == 1)
    #expect(buffer == [42, 2, 3, 4, 5, 6, 7, 8, 9])
    var forged = long
    forged[30] ^= 1
    #expect(throws: SodiumError.cannotOpen) {
      try AEAD.open(forged, associated: [], key: key, into: &buffer)
    }
    #expect(buffer == [UInt8](repeating: 0, count: 9), "nothing forged is left to be read")
    let empty = AEAD.seal([] as [UInt8], associated: [], key: key)
    #expect(try AEAD.open(empty, associated: [], key: key, into: &buffer) == 0)
  }

  @Test func `is never made with a key of another length`() async {
    await #expect(processExitsWith: .failure) {
      _ = AEAD.seal([1], associated: [], key: SecretBytes.random(count: 31))
    }
    await #expect(processExitsWith: .failure) {
      _ = try AEAD.open(
        [UInt8](repeating: 0, count: 40), associated: [], key: SecretBytes.random(count: 33))
    }
  }
}
