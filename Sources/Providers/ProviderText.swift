/// Text that came from a provider, made fit for a terminal, a log line and the ledger.
package enum ProviderText {
  /// The longest text that is shown, in Unicode scalars.
  package static let limit = 300

  /// `text` with control, format (bidirectional, zero-width, tag), separator and unassigned characters
  /// written as `\u{…}`, runs that look like a token replaced, and its length capped.
  ///
  /// Bidirectional and control characters could otherwise forge what a person reads; providers echo
  /// the token they refuse, and a message must never hold one.
  package static func safe(_ text: String, limit: Int = limit) -> String {
    clean(text, limit: limit, hidesTokens: true)
  }

  /// ``safe(_:limit:)`` for a person's name, which may look like a token and is none.
  package static func name(_ text: String, limit: Int = 256) -> String {
    clean(text, limit: limit, hidesTokens: false)
  }

  private static func clean(_ text: String, limit: Int, hidesTokens: Bool) -> String {
    var out = ""
    var count = 0
    var run: [Unicode.Scalar] = []
    func flush() {
      guard !run.isEmpty else { return }
      if hidesTokens, looksLikeSecret(run) {
        out += "[hidden]"
      } else {
        for scalar in run { out.unicodeScalars.append(scalar) }
      }
      run.removeAll(keepingCapacity: true)
    }
    for scalar in text.unicodeScalars {
      guard count < limit else {
        flush()
        out += "…"
        return out
      }
      count += 1
      if isTokenCharacter(scalar) {
        run.append(scalar)
        continue
      }
      flush()
      if isSafe(scalar) {
        out.unicodeScalars.append(scalar)
      } else {
        out += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    flush()
    return out
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
      .unassigned:
      false
    default:
      // Hangul fillers and the braille blank are letters that show as nothing.
      ![0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800].contains(scalar.value)
    }
  }

  private static func isTokenCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~", "+", "/", "=", "|", "%": true
    default: false
    }
  }

  private static func looksLikeSecret(_ run: [Unicode.Scalar]) -> Bool {
    guard run.count >= 20, !run.starts(with: ["/", "/"]) else { return false }
    return run.contains { ("0"..."9").contains($0) }
  }
}
