internal import Encoding
internal import Sodium

/// A redirect address on this machine (RFC 8252 section 7.3).
package struct LoopbackRedirect: Sendable, Equatable {
  package enum Host: String, Sendable {
    case ipv4 = "127.0.0.1"
    case ipv6 = "[::1]"
    /// For servers that know no other: a name can be made to lead elsewhere (section 8.3).
    case localhost
  }

  package let host: Host
  /// Nil for any that is free.
  package let port: UInt16?
  /// As it stands in the address: empty, or from the first `/` on.
  package let path: String

  /// On any free port, with a path that nobody can guess, so that a page which tries ports finds
  /// nothing.
  package static func random(host: Host = .ipv4) -> LoopbackRedirect {
    LoopbackRedirect(host: host, port: nil, path: "/" + Hex.encode(Random.bytes(16)))
  }

  private init(host: Host, port: UInt16?, path: String) {
    self.host = host
    self.port = port
    self.path = path
  }

  /// Reads a redirect address as it is registered at a provider, to be used byte for byte.
  ///
  /// Nil where it is no `http` address of this machine, or has a query, a fragment or characters that
  /// no address has.
  package init?(_ address: String) {
    guard address.hasPrefix("http://"),
      address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      !address.contains(where: { "?#\\\"<>^`{|}".contains($0) })
    else { return nil }
    let rest = address.dropFirst("http://".count)
    let authority = rest.prefix { $0 != "/" }
    guard
      let host = [Host.ipv4, .ipv6, .localhost].first(where: {
        authority == $0.rawValue || authority.hasPrefix($0.rawValue + ":")
      })
    else { return nil }
    let tail = authority.dropFirst(host.rawValue.count)
    if tail.isEmpty {
      port = nil
    } else {
      let digits = tail.dropFirst()
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != "0",
        let number = UInt16(digits)
      else { return nil }
      port = number
    }
    self.host = host
    path = String(rest.dropFirst(authority.count))
  }

  /// The address with the port that was bound.
  package func address(port: UInt16) -> String {
    "http://\(host.rawValue):\(port)\(path)"
  }

  /// The target of a request to it, without the query.
  var requestPath: String { path.isEmpty ? "/" : path }
}
