package import Sodium

/// A list as data: with --json one object a line, written as they come; else a table, written at
/// the end because its columns are as wide as their widest cell.
package struct Listing {
  private let terminal: Terminal
  private let columns: [Column]
  private var table: TextTable

  package init(_ terminal: Terminal, columns: [Column]) {
    self.terminal = terminal
    self.columns = columns
    table = TextTable(headers: columns.map(\.header))
  }

  package mutating func add(_ object: JSONObject) throws(CommandFailure) {
    if terminal.printsJSON {
      try terminal.line(object.line)
    } else {
      table.add(columns.map { $0.show(object) })
    }
  }

  /// Writes the table. An empty list has no headers either: a script counts lines.
  package func finish() throws(CommandFailure) {
    if table.isEmpty { return }
    for line in table.lines { try terminal.line(line) }
  }
}

extension Terminal {
  /// One thing as data: with --json its object, else a line for each of `rows`.
  package func show(_ object: JSONObject, rows: [Column]) throws(CommandFailure) {
    if printsJSON { return try line(object.line) }
    try show(object, rows, width: rows.map(\.header.count).max() ?? 0)
  }

  /// One thing with a secret that is shown this once: the secret's member is the last.
  package func show(
    _ object: JSONObject, rows: [Column], _ member: String, _ secret: borrowing SecretBytes
  ) throws(CommandFailure) {
    if printsJSON {
      var line = SecretObject()
      line.add(object)
      line.add(member, secret: secret)
      return try data(line.finish())
    }
    let header = member.replacing("_", with: " ")
    let width = max(header.count, rows.map(\.header.count).max() ?? 0)
    try show(object, rows, width: width)
    try data(header + String(repeating: " ", count: width - header.count + 2))
    try data(secret)
    try data("\n")
  }

  private func show(_ object: JSONObject, _ rows: [Column], width: Int) throws(CommandFailure) {
    for row in rows {
      let padding = String(repeating: " ", count: width - row.header.count + 2)
      try line(row.header + padding + EscapedText.of(row.show(object)))
    }
  }
}
