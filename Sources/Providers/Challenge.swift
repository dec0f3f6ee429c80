/// One challenge of a `WWW-Authenticate` header (RFC 9110 section 11.6.1).
///
/// Several challenges in one header, quoted strings with escaped quotes and commas, and names in any
/// case are read. Facebook's own form, `OAuth "Facebook Platform" "invalid_token" "…"`, carries quoted
/// strings without names: its second one is the error.
package struct Challenge: Equatable, Sendable {
  /// In lower case.
  package var scheme: String
  /// Names in lower case.
  package var parameters: [(name: String, value: String)] = []
  package var unnamed: [String] = []

  /// The code of RFC 6750 section 3.1 and its like. Without one, no token was sent or read, which says
  /// nothing of any token.
  package var error: String? {
    if let named = parameters.first(where: { $0.name == "error" })?.value { return named }
    return unnamed.count >= 2 ? unnamed[1] : nil
  }

  package static func == (left: Challenge, right: Challenge) -> Bool {
    left.scheme == right.scheme && left.unnamed == right.unnamed
      && left.parameters.elementsEqual(right.parameters, by: ==)
  }

  /// The longest header value that is looked at, in bytes.
  private static let limit = 8192

  /// Whether the server wants a DPoP proof again, with the nonce of this answer (RFC 9449 section 9).
  package var asksForNonce: Bool { scheme == "dpop" && error == "use_dpop_nonce" }

  package static func parse(_ header: String) -> [Challenge] {
    var scanner = Scanner(bytes: Array(header.utf8.prefix(limit)))
    var challenges: [Challenge] = []
    while !scanner.isAtEnd {
      scanner.skipSpacesAndCommas()
      if let text = scanner.quoted() {
        if !challenges.isEmpty { challenges[challenges.count - 1].unnamed.append(text) }
        continue
      }
      guard let word = scanner.token() else {
        scanner.skipOne()
        continue
      }
      let afterWord = scanner.position
      scanner.skipSpaces()
      if scanner.take(UInt8(ascii: "=")), !challenges.isEmpty {
        scanner.skipSpaces()
        let value = scanner.quoted() ?? scanner.token() ?? ""
        challenges[challenges.count - 1].parameters.append((word.lowercased(), value))
        continue
      }
      scanner.position = afterWord
      challenges.append(Challenge(scheme: word.lowercased()))
    }
    return challenges
  }

  private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func skipOne() { position += 1 }

    mutating func skipSpaces() {
      while !isAtEnd, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
    }

    mutating func skipSpacesAndCommas() {
      while !isAtEnd, [0x20, 0x09, 0x2C].contains(bytes[position]) { position += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
      guard !isAtEnd, bytes[position] == byte else { return false }
      position += 1
      return true
    }

    /// A token of RFC 9110 section 5.6.2, or the wider characters of a token68.
    mutating func token() -> String? {
      let start = position
      while !isAtEnd {
        switch bytes[position] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          position += 1
        case let byte where Array("!#$%&'*+-.^_`|~/:".utf8).contains(byte):
          position += 1
        default:
          return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
        }
      }
      return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    mutating func quoted() -> String? {
      guard take(UInt8(ascii: "\"")) else { return nil }
      var text: [UInt8] = []
      while !isAtEnd {
        let byte = bytes[position]
        position += 1
        if byte == UInt8(ascii: "\"") { break }
        if byte == UInt8(ascii: "\\"), !isAtEnd {
          text.append(bytes[position])
          position += 1
        } else {
          text.append(byte)
        }
      }
      return String(decoding: text, as: UTF8.self)
    }
  }
}
