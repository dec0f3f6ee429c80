internal import Faults
internal import Listener
internal import Providers

/// Which headers pass between an app and a provider, and which are for the agent.
enum SendHeaders {
  /// Of a request: whose it is, how it is framed and how it came here. The vault, or libcurl, writes
  /// those itself.
  private static let ownRequest: Set<String> = [
    "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie",
    "cookie2", "dpop", "expect", "forwarded", "host", "http2-settings", "keep-alive", "te",
    "trailer",
    "transfer-encoding", "upgrade", "via",
  ]

  /// Of an answer: how it is framed (RFC 9110 section 7.6.1), what was decoded on the way, and cookies,
  /// which are a session of the account's.
  private static let ownAnswer: Set<String> = [
    "connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "set-cookie2",
    "te",
    "trailer", "transfer-encoding", "upgrade",
  ]

  typealias Header = (name: String, value: String)

  /// What of an app's headers goes to the provider.
  static func sent(_ headers: [Header]) -> [Header] {
    let named = connectionNames(headers)
    return headers.filter { header in
      let name = header.name.lowercased()
      return !ownRequest.contains(name) && !name.hasPrefix("proxy-") && !name.hasPrefix("vault-")
        && !named.contains(name) && !header.value.utf8.allSatisfy { $0 == 0x20 || $0 == 9 }
    }
  }

  /// What of a provider's headers goes to the app: a provider does not speak for the agent.
  static func answered(_ headers: [Header]) -> [Header] {
    let named = connectionNames(headers)
    var passed: [Header] = []
    for (name, value) in headers {
      let lower = name.lowercased()
      guard !ownAnswer.contains(lower), !lower.hasPrefix("proxy-"), !lower.hasPrefix("vault-"),
        !named.contains(lower)
      else { continue }
      // Tabs are blank space (RFC 9110 section 5.5), which libmicrohttpd refuses; so it does the rest.
      let text = value.replacing("\t", with: " ")
      guard !text.isEmpty, !name.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
        name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A })
      else { continue }
      passed.append((name, text))
    }
    return passed
  }

  /// The length of an answer's body as it is handed on; nil where it is not known.
  static func length(_ headers: [Header]) -> Int64? {
    var length: Int64?
    for (name, value) in headers {
      switch name.lowercased() {
      // The body was decoded.
      case "content-encoding", "transfer-encoding": return nil
      case "content-length":
        guard length == nil, let number = Int64(value), number >= 0 else { return nil }
        length = number
      default: break
      }
    }
    return length
  }

  /// Headers that `Connection` names are for the next machine alone.
  private static func connectionNames(_ headers: [Header]) -> Set<String> {
    var names: Set<String> = []
    for header in headers where header.name.lowercased() == "connection" {
      for name in header.value.split(separator: ",") {
        names.insert(name.lowercased().filter { $0 != " " && $0 != "\t" })
      }
    }
    return names
  }
}
