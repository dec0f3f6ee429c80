/// A number of bytes as a person writes it.
enum SizeText {
  /// `64M`, `64MB` and `64MiB` are the same: powers of 1024. Nil where it is no size.
  static func parse(_ text: String) -> UInt64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = UInt64(digits), digits.count <= 15 else { return nil }
    let shift: UInt64
    switch text.dropFirst(digits.count).lowercased() {
    case "": shift = 0
    case "k", "kb", "kib": shift = 10
    case "m", "mb", "mib": shift = 20
    case "g", "gb", "gib": shift = 30
    default: return nil
    }
    let (bytes, overflows) = number.multipliedReportingOverflow(by: 1 << shift)
    return overflows ? nil : bytes
  }
}
