/// Rows under headers, aligned, for a person.
struct TextTable {
  private let headers: [String]
  private var rows: [[String]] = []

  init(headers: [String]) { self.headers = headers }

  var isEmpty: Bool { rows.isEmpty }

  /// The cells are shown escaped; each is one line.
  mutating func add(_ cells: [String]) { rows.append(cells.map { EscapedText.of($0) }) }

  /// The lines, without spaces at their ends.
  var lines: [String] {
    let all = [headers] + rows
    let widths = headers.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
    return all.map { row in
      var line = ""
      var padding = 0
      for (cell, width) in zip(row, widths) {
        if !cell.isEmpty { line += String(repeating: " ", count: padding) + cell }
        padding = (cell.isEmpty ? padding : 0) + width - Self.width(cell) + 2
      }
      return line
    }
  }

  /// Columns of a terminal that a text takes: two for what is wide in East Asia and for pictures,
  /// none for marks that are put on the letter before.
  static func width(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { sum, scalar in
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: sum
      default: sum + (isWide(scalar.value) ? 2 : 1)
      }
    }
  }

  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3,
      0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f,
      0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
      true
    default: false
    }
  }
}
