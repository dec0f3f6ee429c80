extension QRCode {
  /// How modules are shown.
  package enum Ink: Sendable {
    /// Black on white by colours of its own, whatever those of the terminal are.
    case colored
    /// Without colours: light modules are drawn and dark ones left free, which is right where the
    /// terminal writes light on dark.
    case plain
  }

  /// The code for a terminal, two rows of modules to a line, with its margin.
  ///
  /// - Parameter columns: How many characters a line of the terminal has.
  /// - Returns: Lines, each with its newline. Nil where they are longer than the terminal's, which
  ///   would break them: nothing could read it then.
  package func lines(columns: Int, ink: Ink) -> String? {
    let span = -Self.margin..<side + Self.margin
    guard span.count <= columns else { return nil }
    var text = ""
    for row in stride(from: span.lowerBound, to: span.upperBound, by: 2) {
      if ink == .colored { text += "\u{1b}[38;5;16;48;5;231m" }
      for column in span {
        let upper = isDark(row: row, column: column)
        // The last line of an odd count has no lower row: it is drawn as margin.
        let lower = isDark(row: row + 1, column: column)
        text += ink == .colored ? Self.block(upper, lower) : Self.block(!upper, !lower)
      }
      if ink == .colored { text += "\u{1b}[0m" }
      text += "\n"
    }
    return text
  }

  /// One character in which the upper and the lower half are drawn or not.
  private static func block(_ upper: Bool, _ lower: Bool) -> String {
    switch (upper, lower) {
    case (true, true): "\u{2588}"
    case (true, false): "\u{2580}"
    case (false, true): "\u{2584}"
    case (false, false): " "
    }
  }
}
