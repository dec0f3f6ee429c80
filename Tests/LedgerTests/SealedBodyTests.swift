import Encoding
import Testing
import Time

@testable import Ledger

@Suite struct `A sealed body` {
  static let entry = `An entry`.full

  @Test func `opens to the entry that its leaf commits to`() throws {
    let (leaf, plaintext) = SealedBody.make(`A sealed body`.entry)
    #expect(plaintext.count % 64 == 0)
    #expect(leaf.number == 7)
    let opened = try SealedBody.open(plaintext, leaf: leaf)
    #expect(opened == `A sealed body`.entry)
  }

  @Test func `of the same entry has another leaf each time`() {
    let first = SealedBody.make(`A sealed body`.entry)
    let second = SealedBody.make(`A sealed body`.entry)
    #expect(first.leaf.commitment != second.leaf.commitment)
  }

  @Test func `of another entry does not fit the leaf`() {
    let (leaf, _) = SealedBody.make(`A sealed body`.entry)
    var other = `A sealed body`.entry
    other.audience = "everyone"
    let (_, plaintext) = SealedBody.make(other)
    #expect(throws: LedgerError.commitmentMismatch(7)) {
      try SealedBody.open(plaintext, leaf: leaf)
    }
  }

  @Test func `altered in any byte is refused`() {
    let (leaf, plaintext) = SealedBody.make(`A sealed body`.entry)
    for place in plaintext.indices {
      var altered = plaintext
      altered[place] ^= 0x40
      #expect(throws: LedgerError.self) { try SealedBody.open(altered, leaf: leaf) }
    }
  }

  @Test func `under the leaf of another number is refused`() {
    let (leaf, plaintext) = SealedBody.make(`A sealed body`.entry)
    let moved = Leaf(number: 8, minute: leaf.minute, commitment: leaf.commitment)
    #expect(throws: LedgerError.self) { try SealedBody.open(plaintext, leaf: moved) }
    let later = Leaf(number: 7, minute: leaf.minute + 1, commitment: leaf.commitment)
    #expect(throws: LedgerError.self) { try SealedBody.open(plaintext, leaf: later) }
  }

  @Test(arguments: [0, 1, 63, 64, 65])
  func `of any other length is refused`(_ count: Int) {
    let (leaf, _) = SealedBody.make(`A sealed body`.entry)
    #expect(throws: LedgerError.self) {
      try SealedBody.open([UInt8](repeating: 0x80, count: count), leaf: leaf)
    }
  }
}

@Suite struct `A leaf` {
  static let leaf = Leaf(number: 258, minute: -2, commitment: Digest32(Array(0..<32)))

  @Test func `has 49 bytes in the order of the format`() throws {
    let bytes = `A leaf`.leaf.bytes
    #expect(bytes.count == 49)
    #expect(
      bytes == [1, 0, 0, 0, 0, 0, 0, 1, 2] + [255, 255, 255, 255, 255, 255, 255, 254]
        + Array(0..<32))
    let decoded = try Leaf(bytes)
    #expect(decoded == `A leaf`.leaf)
  }

  @Test func `of another length or version is refused`() {
    let bytes = `A leaf`.leaf.bytes
    #expect(throws: LedgerError.self) { try Leaf([]) }
    #expect(throws: LedgerError.self) { try Leaf(Array(bytes.dropLast())) }
    #expect(throws: LedgerError.self) { try Leaf(bytes + [0]) }
    #expect(throws: LedgerError.newerVersion(9)) { try Leaf([9] + bytes.dropFirst()) }
  }

  @Test(arguments: [(0, 0), (59, 0), (60, 1), (-1, -1), (-60, -1), (-61, -2)])
  func `shows the minute, rounded down`(_ seconds: Int64, _ minute: Int64) {
    #expect(Leaf.minute(of: Timestamp(seconds: seconds)) == minute)
  }
}
