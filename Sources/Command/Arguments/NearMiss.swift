/// Finds what a mistyped word was meant to be.
enum NearMiss {
  /// The candidate nearest to `word`: one that begins with it, or one that a few slips of the
  /// finger away. Nil where none is near.
  static func of(_ word: String, among candidates: [String]) -> String? {
    guard word.utf8.count >= 2, word.utf8.count <= 40 else { return nil }
    let typed = Array(word.lowercased().utf8)
    let allowed = max(1, typed.count / 3)
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
      let slips = distance(typed, Array(candidate.utf8))
      if slips <= allowed, slips < best?.distance ?? .max { best = (slips, candidate) }
    }
    if let best { return best.candidate }
    let longer = candidates.filter { $0.hasPrefix(word.lowercased()) }
    return longer.count == 1 ? longer[0] : nil
  }

  /// Slips between two words: a letter too many, one missing, one wrong, two swapped.
  static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
