package import Encoding
public import Time

/// What stands in the open for one entry: its number, its minute, and a commitment to its body.
///
/// The tree is built over leaves, so anyone can check it without a key and learns nothing of the
/// bodies. A leaf never changes once it is written; a body may be sealed anew under another key
/// (rotation) and still be the one that its leaf commits to.
public struct Leaf: Equatable, Sendable {
  /// The version of the form, the first byte of ``bytes``.
  static let version: UInt8 = 1
  /// The length of every leaf: version 1, number 8, minute 8, commitment 32.
  package static let byteCount = 49

  /// The index in the tree, from 0.
  public let number: UInt64
  /// The entry's time rounded down to the minute, in minutes since 1970.
  public let minute: Int64
  /// BLAKE2b-256 over the body under a random key of 32 bytes. A plain hash would let anyone who
  /// holds the file guess a body (there are few apps, events and minutes) and see the guess
  /// confirmed; the random key lies sealed beside the body.
  package let commitment: Digest32

  package init(number: UInt64, minute: Int64, commitment: Digest32) {
    self.number = number
    self.minute = minute
    self.commitment = commitment
  }

  /// The minute of a time, rounded towards the past also before 1970.
  package static func minute(of time: Timestamp) -> Int64 {
    let (minute, second) = time.seconds.quotientAndRemainder(dividingBy: 60)
    return second < 0 ? minute - 1 : minute
  }

  /// The start of the leaf's minute.
  public var time: Timestamp {
    let (seconds, overflow) = minute.multipliedReportingOverflow(by: 60)
    return Timestamp(seconds: overflow ? (minute < 0 ? .min : .max) : seconds)
  }

  /// The canonical bytes, which the tree hashes.
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(Leaf.version)
    writer.u64(number)
    writer.i64(minute)
    writer.raw(commitment.bytes)
    return writer.bytes
  }

  /// Decodes canonical bytes, without allocating.
  ///
  /// - Throws: ``LedgerError/newerVersion(_:)`` or ``LedgerError/malformed(_:)``.
  package init(_ bytes: RawSpan) throws(LedgerError) {
    guard bytes.byteCount > 0 else { throw .malformed("leaf: empty") }
    let version = bytes.byte(0)
    guard version == Leaf.version else { throw .newerVersion(version) }
    guard bytes.byteCount == Leaf.byteCount else { throw .malformed("leaf: length") }
    // Two big-endian integers, which is what a key of 16 bytes is.
    let head = Key16(bytes.extracting(1..<17))
    number = head.high
    minute = Int64(bitPattern: head.low)
    commitment = Digest32(bytes.extracting(17..<49))
  }

  /// Decodes canonical bytes.
  ///
  /// - Throws: ``LedgerError/newerVersion(_:)`` or ``LedgerError/malformed(_:)``.
  package init(_ bytes: [UInt8]) throws(LedgerError) {
    self = try bytes.withBytes { (bytes) throws(LedgerError) in try Leaf(bytes) }
  }
}
