/// The ASCII characters of a text, taken from its start one rule at a time.
struct Characters {
  private let bytes: [UInt8]
  private var place = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  var atEnd: Bool { place == bytes.count }

  /// Takes `character` if it is the next one.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  /// Takes exactly so many digits, or nothing.
  mutating func number(digits count: Int) -> Int64? {
    guard bytes.count - place >= count else { return nil }
    var value: Int64 = 0
    for byte in bytes[place..<place + count] {
      guard let digit = Self.digit(byte) else { return nil }
      value = value * 10 + digit
    }
    place += count
    return value
  }

  /// Takes all the digits that follow. Nil if there is none or they pass `Int64`.
  mutating func number() -> Int64? {
    let start = place
    var value: Int64 = 0
    while place < bytes.count, let digit = Self.digit(bytes[place]) {
      let (tens, pastTens) = value.multipliedReportingOverflow(by: 10)
      let (sum, pastSum) = tens.addingReportingOverflow(digit)
      guard !pastTens, !pastSum else { return nil }
      value = sum
      place += 1
    }
    return place > start ? value : nil
  }

  /// Takes all the digits that follow and tells how many they were.
  mutating func skipDigits() -> Int {
    let start = place
    while place < bytes.count, Self.digit(bytes[place]) != nil { place += 1 }
    return place - start
  }

  private static func digit(_ byte: UInt8) -> Int64? {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
  }
}
