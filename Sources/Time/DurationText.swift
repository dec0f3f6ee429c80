/// A length of time as a person types it.
public enum DurationText {
  /// The seconds in `text`, or nil.
  ///
  /// Either one whole number and one unit (`90s`, `15m`, `12h`, `30d`, `2w`), or the ISO 8601 forms
  /// of fixed length (`PT1H`, `PT1H30M`, `P1DT12H`, `P2W`). Years and months are refused since
  /// their length depends on the date; so are fractions, signs, white space, other case, and
  /// anything past `Int64`. Nought is a length.
  public static func parse(_ text: String) -> Int64? {
    var characters = Characters(text)
    if characters.take("P") { return iso(&characters) }
    guard let count = characters.number() else { return nil }
    let units: [(name: Unicode.Scalar, seconds: Int64)] = [
      ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800),
    ]
    for unit in units where characters.take(unit.name) {
      guard characters.atEnd else { return nil }
      let (seconds, overflow) = count.multipliedReportingOverflow(by: unit.seconds)
      return overflow ? nil : seconds
    }
    return nil
  }

  /// What follows the P. Parts stand in their order, each once at most, and there is at least one.
  private static func iso(_ characters: inout Characters) -> Int64? {
    // Nought stands for the T between days and hours. A week stands alone.
    let parts: [(name: Unicode.Scalar, seconds: Int64)] = [
      ("W", 604_800), ("D", 86_400), ("T", 0), ("H", 3600), ("M", 60), ("S", 1),
    ]
    var total: Int64 = 0
    var next = 0
    var inTime = false
    var last: Unicode.Scalar?
    while !characters.atEnd {
      if characters.take("T") {
        guard !inTime, last != "W" else { return nil }
        inTime = true
        next = 3
        last = "T"
        continue
      }
      guard let count = characters.number() else { return nil }
      let candidates = inTime ? next..<parts.count : next..<2
      guard let found = candidates.first(where: { characters.take(parts[$0].name) }) else {
        return nil
      }
      let (seconds, pastPart) = count.multipliedReportingOverflow(by: parts[found].seconds)
      let (sum, pastSum) = total.addingReportingOverflow(seconds)
      guard !pastPart, !pastSum else { return nil }
      total = sum
      last = parts[found].name
      next = found == 0 ? 2 : found + 1
    }
    guard let last, last != "T" else { return nil }
    return total
  }
}
