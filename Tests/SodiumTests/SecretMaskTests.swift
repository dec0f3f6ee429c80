import Sodium
import Testing

@Suite struct `A mask of secrets` {
  private static func shared(_ text: String) -> SharedSecret {
    var bytes = Array(text.utf8)
    return SharedSecret(SecretBytes(wiping: &bytes))
  }

  private static let one = "abcabcabcabcabcabd"
  private static let other = "abcabcabcabcabcabdabc"

  @Test func `covers each of them, also where two have bytes in common`() {
    let mask = SecretMask([Self.shared(Self.one), Self.shared(Self.other)])
    for (text, covered) in [
      ("", ""), ("nothing", "nothing"),
      (Self.one, String(repeating: "*", count: 18)),
      ("<\(Self.one)>", "<" + String(repeating: "*", count: 18) + ">"),
      ("\(Self.one)\(Self.one)!", String(repeating: "*", count: 36) + "!"),
      ("x\(Self.other)x", "x" + String(repeating: "*", count: 21) + "x"),
      // One that begins within what looked like the beginning of one.
      ("abcabc\(Self.one)", "abcabc" + String(repeating: "*", count: 18)),
      (String(Self.one.dropLast()), String(Self.one.dropLast())),
    ] {
      #expect(mask.covered(text) == covered)
    }
  }

  @Test func `knows how much of the end may be a beginning`() {
    let mask = SecretMask([Self.shared(Self.one)])
    for (text, count) in [
      ("", 0), ("x", 0), ("xa", 1), ("xab", 2), ("xabcabx", 0), (String(Self.one.dropLast()), 17),
      (Self.one, 0), ("abcabcabcabcabcabcab", 17), ("abcabcabcabcabcabcabcabcab", 17),
    ] {
      let bytes = Array(text.utf8)
      #expect(mask.tail(of: bytes.span.bytes) == count, "\(text)")
    }
  }

  @Test func `leaves out what is too short to be one`() {
    let mask = SecretMask([Self.shared("short"), Self.shared("")])
    #expect(mask.isEmpty && mask.covered("short") == "short")
  }
}
