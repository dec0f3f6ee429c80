/// Texts as C reads them.
package enum CStrings {
  /// One after the other, each ended by a NUL.
  ///
  /// - Precondition: None holds a NUL. The kernel passes none in arguments and environment.
  package static func packed(_ texts: [String]) -> [CChar] {
    texts.flatMap { text in
      precondition(!text.utf8.contains(0), "a text for C holds a NUL")
      return text.utf8.map(CChar.init(bitPattern:)) + [0]
    }
  }
}
