/// The absolute address of a request, exactly as it is sent.
///
/// What a signature covers and what is sent must be the same, so nothing is decoded or mended here:
/// an address that two programs could read in two ways is refused.
package struct RequestURL: Sendable, Equatable {
  /// As it was given.
  package let text: String

  /// In lower case.
  package let scheme: String

  /// In lower case, IPv6 in its brackets.
  package let host: String

  /// The scheme's own where none is given.
  package let port: Int

  /// As sent, `/` where it is empty.
  package let path: String

  /// What follows `?`, as sent; nil without one.
  package let query: String?

  /// Scheme, host and port; the last only where it is not the scheme's own.
  package let origin: String

  /// The base string URI (RFC 5849 section 3.4.1.2), which is also what a DPoP proof names (RFC 9449
  /// section 4.2): without query and fragment.
  package let base: String

  /// Whether a `#` with something behind it was there. It is never sent.
  package let hasFragment: Bool

  /// - Parameter hostHeader: The value of `Host` where it differs from the address, as at a proxy.
  /// - Throws: ``OAuthError/badURL(_:)``.
  package init(_ text: String, hostHeader: String? = nil) throws(OAuthError) {
    let bytes = Array(text.utf8)
    // A byte that has to be encoded, and the backslash, which some take for a slash.
    for byte in bytes where byte < 0x21 || byte > 0x7E || byte == 0x5C {
      throw .badURL("characters that have to be encoded")
    }
    var place = 0
    func take(_ wanted: StaticString) -> Bool {
      guard place + wanted.utf8CodeUnitCount <= bytes.count else { return false }
      for (offset, byte) in wanted.description.utf8.enumerated()
      where Self.lower(bytes[place + offset]) != byte {
        return false
      }
      place += wanted.utf8CodeUnitCount
      return true
    }
    if take("https://") {
      scheme = "https"
    } else if take("http://") {
      scheme = "http"
    } else {
      throw .badURL("neither http nor https")
    }
    func end(_ stops: UInt8...) -> Int {
      var end = place
      while end < bytes.count, !stops.contains(bytes[end]) { end += 1 }
      return end
    }
    let slash = UInt8(ascii: "/")
    let mark = UInt8(ascii: "?")
    let hash = UInt8(ascii: "#")
    var authority = bytes[place..<end(slash, mark, hash)]
    place = authority.endIndex
    // What stands before an `@` looks like a host and is none.
    guard !authority.contains(UInt8(ascii: "@")) else {
      throw .badURL("a user name before the host")
    }
    let pathEnd = end(mark, hash)
    path = pathEnd == place ? "/" : String(decoding: bytes[place..<pathEnd], as: UTF8.self)
    place = pathEnd
    if place < bytes.count, bytes[place] == mark {
      place += 1
      let queryEnd = end(hash)
      query = String(decoding: bytes[place..<queryEnd], as: UTF8.self)
      place = queryEnd
    } else {
      query = nil
    }
    hasFragment = place < bytes.count
    let isSecure = scheme == "https"
    var found = try Self.authority(authority, isSecure)
    if let hostHeader {
      authority = Array(hostHeader.utf8)[...]
      found = try Self.authority(authority, isSecure)
    }
    (host, port) = found
    origin =
      port == (isSecure ? 443 : 80)
      ? scheme + "://" + host : scheme + "://" + host + ":" + String(port)
    base = origin + path
    self.text = text
  }

  private static func authority(
    _ bytes: ArraySlice<UInt8>, _ isSecure: Bool
  ) throws(OAuthError) -> (host: String, port: Int) {
    var host = bytes
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
        throw .badURL("an IPv6 address without ]")
      }
      host = bytes[...end]
      let inner = host.dropFirst().dropLast()
      guard inner.contains(UInt8(ascii: ":")), inner.allSatisfy(isAddressByte) else {
        throw .badURL("no IPv6 address")
      }
    } else {
      if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) { host = bytes[..<colon] }
      guard !host.isEmpty, host.allSatisfy(isHostByte) else { throw .badURL("no host") }
    }
    let name = String(decoding: host.map(lower), as: UTF8.self)
    let digits = bytes[host.endIndex...]
    guard let colon = digits.first else { return (name, isSecure ? 443 : 80) }
    guard colon == UInt8(ascii: ":") else { throw .badURL("no port after ]") }
    guard digits.count > 1 else { return (name, isSecure ? 443 : 80) }
    guard digits.count <= 6, digits.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .badURL("no port")
    }
    let port = digits.dropFirst().reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard (1...65535).contains(port) else { throw .badURL("no port") }
    return (name, port)
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "~")
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    PercentEncoding.value(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
  }

  /// Whether the host is this machine by its literal address.
  package var isLoopback: Bool { host == "127.0.0.1" || host == "[::1]" }

  /// Whether nobody on the way reads what is sent there.
  package var isPrivate: Bool { scheme == "https" || isLoopback }
}

extension RequestURL {
  /// The address with more fields in its query, which keeps those that it had.
  ///
  /// - Throws: ``OAuthError/badURL(_:)`` for an address with a fragment,
  ///   ``OAuthError/repeatedParameter(_:)`` for a field that is there already.
  package func adding(
    _ fields: [(name: String, value: String)]
  ) throws(OAuthError) -> String {
    guard !hasFragment else { throw .badURL("a fragment") }
    var form = FormBody(.strict)
    try form.append(further: fields)
    if let query {
      let old = try FormReply(query)
      let names = old.names
      for (name, _) in fields where names.contains(name) { throw .repeatedParameter(name) }
      return text + (query.isEmpty || query.hasSuffix("&") ? "" : "&") + form.text()
    }
    return text + "?" + form.text()
  }
}
