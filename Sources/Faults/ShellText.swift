/// Words for a command that a person pastes; what is in them may come from a provider.
package enum ShellText {
  /// The word as it is where the shell leaves it alone, else between single quotes.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "_./:@%+,-".utf8.contains(byte)
        }
      }
    if isPlain { return word }
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
