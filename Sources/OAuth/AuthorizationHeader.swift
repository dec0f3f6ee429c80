internal import Encoding
package import Sodium

/// The value of an `Authorization` header of the scheme `OAuth` (RFC 5849 section 3.5.1).
package enum AuthorizationHeader {
  /// Writes all of `parameters`.
  ///
  /// - Parameter realm: A quoted string of its own, not encoded and not signed.
  /// - Throws: ``OAuthError/badParameter(_:)`` for a realm that is no line of printable ASCII.
  package static func write(
    realm: String? = nil, _ parameters: borrowing ParameterList
  ) throws(OAuthError) -> SecretBytes {
    let text = try begin(realm, parameters, parameters.count)
    return text.finish()
  }

  /// Writes the first `count` of `parameters`, which are the protocol's, and the signature.
  static func write(
    realm: String?, _ parameters: borrowing ParameterList, count: Int,
    signature: borrowing SecretBytes
  ) throws(OAuthError) -> SecretBytes {
    var text = try begin(realm, parameters, count)
    text.append(", oauth_signature=\"")
    signature.withBytes { text.append($0, .strict) }
    text.append(UInt8(ascii: "\""))
    return text.finish()
  }

  private static func begin(
    _ realm: String?, _ parameters: borrowing ParameterList, _ count: Int
  ) throws(OAuthError) -> WipedBytes {
    var text = WipedBytes(capacity: 1024)
    text.append("OAuth ")
    if let realm {
      guard realm.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        throw .badParameter("realm")
      }
      text.append("realm=\"")
      for byte in realm.utf8 {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          text.append(UInt8(ascii: "\\"))
        }
        text.append(byte)
      }
      text.append("\", ")
    }
    parameters.writeHeader(count, to: &text)
    return text
  }

  /// The names and values of a header, still encoded.
  static func parse(_ header: String) throws(OAuthError) -> [(name: String, value: String)] {
    let bytes = Array(header.utf8)
    guard bytes.count > 6, String(decoding: bytes[..<6], as: UTF8.self).lowercased() == "oauth "
    else { throw .badAnswer("the scheme is not OAuth") }
    var parameters: [(name: String, value: String)] = []
    var place = 6
    func skipSpaces() {
      while place < bytes.count, bytes[place] == 0x20 || bytes[place] == 9 { place += 1 }
    }
    while true {
      skipSpaces()
      guard place < bytes.count else { break }
      let start = place
      while place < bytes.count, bytes[place] != UInt8(ascii: "=") { place += 1 }
      let name = String(decoding: bytes[start..<place], as: UTF8.self)
      guard !name.isEmpty, place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "\"") else {
        throw .badAnswer("a header parameter without a quoted value")
      }
      place += 2
      var value: [UInt8] = []
      while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
        if bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count { place += 1 }
        value.append(bytes[place])
        place += 1
      }
      guard place < bytes.count else { throw .badAnswer("a quoted value without its end") }
      place += 1
      parameters.append((name, String(decoding: value, as: UTF8.self)))
      skipSpaces()
      guard place < bytes.count else { break }
      guard bytes[place] == UInt8(ascii: ",") else {
        throw .badAnswer("header parameters without a comma between them")
      }
      place += 1
    }
    return parameters
  }
}
