/// Text in lines of at most 80 columns.
enum Wrapped {
  static let width = 80

  /// Words filled into lines, each begun by `indent` spaces. Words are never broken.
  static func lines(_ pieces: [String], indent: Int, hanging: Int? = nil) -> [String] {
    var lines: [String] = []
    var line = ""
    for piece in pieces {
      let margin = lines.isEmpty ? indent : hanging ?? indent
      if line.isEmpty {
        line = String(repeating: " ", count: margin) + piece
      } else if line.count + 1 + piece.count <= width {
        line += " " + piece
      } else {
        lines.append(line)
        line = String(repeating: " ", count: hanging ?? indent) + piece
      }
    }
    if !line.isEmpty { lines.append(line) }
    return lines
  }

  static func lines(_ text: String, indent: Int, hanging: Int? = nil) -> [String] {
    lines(text.split(separator: " ").map(String.init), indent: indent, hanging: hanging)
  }

  /// A list of terms with what they mean, in two columns.
  static func terms(_ terms: [(term: String, meaning: String)], indent: Int = 2) -> [String] {
    let longest = terms.map(\.term.count).filter { $0 <= 26 }.max() ?? 0
    return terms.flatMap { term, meaning in
      let column = indent + longest + 2
      let body = lines(meaning, indent: column)
      let start = String(repeating: " ", count: indent) + term
      guard let first = body.first, start.count + 2 <= column else { return [start] + body }
      return [start + first.dropFirst(start.count)] + body.dropFirst()
    }
  }
}
