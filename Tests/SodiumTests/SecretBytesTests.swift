import Encoding
import Foundation
import Testing

@testable import Sodium

@Suite struct `A secret` {
  struct Failure: Error {}

  /// How often `canary` lies in the locked memory, in taken cells or in free ones.
  private func sightings(of canary: [UInt8]) -> Int {
    var count = 0
    for pool in [SecretPool.small, .medium, .large] {
      pool.inspect { slab in
        slab.withUnsafeBytes { bytes in
          for start in stride(from: 0, to: bytes.count - canary.count + 1, by: 1)
          where bytes[start] == canary[0] {
            if bytes[start..<start + canary.count].elementsEqual(canary) { count += 1 }
          }
        }
      }
    }
    return count
  }

  @Test(arguments: [0, 1, 32, 256, 257, 1024, 1025, 8192, 8193, 100_000])
  func `starts as zeroes, of exactly its length`(_ count: Int) {
    let secret = SecretBytes(count: count)
    #expect(secret.count == count)
    #expect(secret.array == [UInt8](repeating: 0, count: count))
    let guarded = SecretBytes(guardedCount: count)
    #expect(guarded.count == count)
    #expect(guarded.array == [UInt8](repeating: 0, count: count))
  }

  @Test(arguments: [1, 256, 257, 8192, 8193]) func `is written and read`(_ count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var secret = SecretBytes(count: count)
    secret.withMutableBytes { span in
      span.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    }
    #expect(secret.array == bytes)
    let copy = secret.copy()
    secret.withMutableBytes { span in
      span.withUnsafeMutableBytes { $0.storeBytes(of: 0xff, as: UInt8.self) }
    }
    #expect(copy.array == bytes, "a copy is other memory")
    let equal = copy.isEqual(to: secret)
    #expect(!equal)
  }

  @Test(arguments: [32, 256, 257, 1024, 1025, 8192])
  func `is wiped when it is let go`(_ count: Int) {
    let canary = Random.bytes(32)
    do {
      var bytes = canary + [UInt8](repeating: 1, count: count - 32)
      let secret = SecretBytes(wiping: &bytes)
      #expect(bytes.isEmpty)
      let seen = sightings(of: canary)
      #expect(seen == 1, "the search finds what is there")
      #expect(secret.count == count)
    }
    #expect(sightings(of: canary) == 0)
  }

  @Test func `is wiped when an error leaves its scope`() {
    let canary = Random.bytes(32)
    #expect(throws: Failure.self) {
      let secret = SecretBytes(copying: canary)
      try secret.withBytes { _ in throw Failure() }
    }
    #expect(sightings(of: canary) == 0)
  }

  @Test func `is wiped where a box was opened into it`() throws {
    let canary = Random.bytes(32)
    let key = SecretBytes.random(count: 32)
    do {
      let opened = try AEAD.open(
        AEAD.seal(canary, associated: [], key: key), associated: [], key: key)
      let seen = sightings(of: canary)
      #expect(seen == 1)
      #expect(opened.count == 32)
    }
    #expect(sightings(of: canary) == 0)
  }

  @Test func `loses what is cut off`() {
    let canary = Random.bytes(32)
    var secret = SecretBytes(copying: [1, 2, 3] + canary)
    secret.truncate(to: 3)
    #expect(secret.array == [1, 2, 3])
    #expect(sightings(of: canary) == 0)
  }

  @Test func `that outgrows its place leaves nothing there`() {
    let canary = Random.bytes(32)
    var secret = SecretBytes(copying: canary)
    for block in [256, 1024, 8192] {
      secret.pad(block: block)
      let seen = sightings(of: canary)
      #expect(seen == 1, "padded to \(block)")
      #expect(secret.count % block == 0)
    }
  }

  @Test func `in pages of its own cannot be read any more after it`() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      var address: UnsafeMutableRawPointer?
      do {
        let key = SecretBytes(guardedCount: 32)
        address = key.start
      }
      exit(address!.load(as: UInt8.self) == 0 ? 0 : 1)
    }
  }

  @Test func `in pages of its own cannot be overrun`() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let key = SecretBytes(guardedCount: 32)
      exit(key.start.load(fromByteOffset: 32, as: UInt8.self) == 0 ? 0 : 1)
    }
  }

  @Test func `equals another only in every byte and in length`() {
    let bytes = Random.bytes(64)
    let secret = SecretBytes(copying: bytes)
    let same = SecretBytes(copying: bytes)
    let equal = secret.isEqual(to: same)
    #expect(equal)
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        let other = SecretBytes(copying: changed)
        let alike = secret.isEqual(to: other)
        #expect(!alike)
      }
    }
    let shorter = SecretBytes(copying: Array(bytes.dropLast()))
    let longerEqual = secret.isEqual(to: shorter)
    let shorterEqual = shorter.isEqual(to: secret)
    #expect(!longerEqual && !shorterEqual)
    let none = SecretBytes(count: 0)
    let noneEither = SecretBytes(guardedCount: 0)
    let emptyEqual = none.isEqual(to: noneEither)
    #expect(emptyEqual)
  }

  @Test func `drawn at random is not drawn twice`() {
    let one = SecretBytes.random(count: 32)
    let other = SecretBytes.random(count: 32)
    let equal = one.isEqual(to: other)
    #expect(!equal)
    #expect(Random.key16() != Random.key16())
    #expect(Random.bytes(32) != Random.bytes(32))
    #expect(Random.bytes(0) == [])
  }

  @Test func `is never of negative length`() async {
    await #expect(processExitsWith: .failure) { _ = SecretBytes(count: -1).count }
  }
}
