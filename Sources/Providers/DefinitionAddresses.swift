import JSON

/// The addresses of a definition, with its variables put in.
struct DefinitionAddresses {
  private(set) var endpoints: [EndpointName: String] = [:]
  private(set) var apiHosts: [String] = []
  private(set) var issuer: String?
  /// Variables without a value.
  private(set) var openVariables: [String] = []
  private var values: [(name: String, value: String)] = []

  init(_ top: DefinitionObject) throws(DefinitionError) {
    if let variables = try top.object("variables", kind: nil) {
      for name in variables.names {
        guard Provider.isIdentifier(name) else {
          throw DefinitionError(
            variables.full(name), "is not a variable's name", accepted: "a to z, 0 to 9 and -")
        }
        guard let value = try variables.text(name) else {
          openVariables.append(name)
          continue
        }
        guard Self.isVariableValue(value) else {
          throw DefinitionError(
            variables.full(name), "is not a value for an address",
            accepted: "letters, digits and ._-:[]")
        }
        values.append((name, value))
      }
    }
    if let object = try top.object("endpoints", kind: "endpoints") {
      for name in EndpointName.allCases {
        guard let text = try object.text(name.rawValue) else { continue }
        endpoints[name] = try address(text, object.full(name.rawValue))
      }
    }
    if let text = try top.text("issuer") { issuer = try address(text, "issuer") }
    for (index, text) in (try top.texts("api_hosts") ?? []).enumerated() {
      let path = "api_hosts[\(index)]"
      let host = substitute(text)
      let checked = fill(host)
      guard let parts = HostAndPort(checked) else {
        throw DefinitionError(
          path, "is \"\(ProviderText.safe(text, limit: 80))\"",
          accepted: "a host such as api.example, with :PORT where it is not 443")
      }
      apiHosts.append(host == checked ? parts.text : host)
    }
    if !openVariables.isEmpty {
      let open = self
      endpoints = endpoints.filter { !open.isOpen($0.value) }
      apiHosts.removeAll { open.isOpen($0) }
      if let address = issuer, open.isOpen(address) { issuer = nil }
    }
  }

  private static func isVariableValue(_ value: String) -> Bool {
    !value.isEmpty && value.utf8.count <= 253
      && value.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: Array("._-:[]".utf8).contains(byte)
        }
      }
  }

  private func substitute(_ text: String) -> String {
    values.reduce(text) { $0.replacing("{\($1.name)}", with: $1.value) }
  }

  /// `text` with something in the place of each open variable, so that the rest can be checked.
  private func fill(_ text: String) -> String {
    openVariables.reduce(text) { $0.replacing("{\($1)}", with: "open.example") }
  }

  private func isOpen(_ text: String) -> Bool {
    openVariables.contains { text.contains("{\($0)}") }
  }

  private func address(_ text: String, _ path: String) throws(DefinitionError) -> String {
    let put = substitute(text)
    let accepted = "an https address, or http to a loopback address"
    let shown = ProviderText.safe(text, limit: 120)
    // The client's id comes when the request is made, into the path alone.
    var filled = fill(put)
    if let path = filled.dropFirst(8).firstIndex(of: "/") {
      filled.replaceSubrange(
        path..., with: filled[path...].replacing("/{client_id}/", with: "/id/"))
    }
    guard let address = Address(filled) else {
      throw DefinitionError(path, "is \"\(shown)\"", accepted: accepted)
    }
    guard address.scheme == "https" || address.host.isLoopback else {
      throw DefinitionError(
        path, "is \"\(shown)\", which would send secrets in the clear", accepted: accepted)
    }
    return put
  }

  /// `value` with the addresses as they are now, and of the variables only the open ones left.
  func resolving(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value else { return value }
    var result: [JSONValue.Member] = []
    for member in members {
      switch member.name {
      case "variables":
        if !openVariables.isEmpty {
          let open = openVariables.map { JSONValue.Member($0, .null) }
          result.append(JSONValue.Member("variables", .object(open)))
        }
      case "extends":
        result.append(JSONValue.Member("extends", .null))
      case "endpoints", "api_hosts", "issuer":
        result.append(JSONValue.Member(member.name, substituteTexts(member.value)))
      default:
        result.append(member)
      }
    }
    return .object(result)
  }

  private func substituteTexts(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(substitute(text))
    case .array(let elements): .array(elements.map(substituteTexts))
    case .object(let members):
      .object(members.map { JSONValue.Member($0.name, substituteTexts($0.value)) })
    default: value
    }
  }
}

/// A host, with a port where one is written.
package struct HostAndPort: Equatable, Sendable {
  /// In lower case; an IPv6 address in brackets.
  package let host: String
  package let port: Int?

  package init?(_ text: String) {
    let lower = text.lowercased()
    var rest = lower[...]
    if lower.hasPrefix("[") {
      guard let end = lower.firstIndex(of: "]") else { return nil }
      host = String(lower[...end])
      guard
        host.utf8.dropFirst().dropLast().allSatisfy({ Self.isHex($0) || $0 == 0x3A || $0 == 0x2E })
      else { return nil }
      rest = lower[lower.index(after: end)...]
    } else {
      let end = lower.firstIndex(of: ":") ?? lower.endIndex
      host = String(lower[..<end])
      guard !host.isEmpty, host.utf8.count <= 253, !host.hasPrefix("."), !host.hasSuffix("."),
        !host.hasPrefix("-"),
        host.utf8.allSatisfy({
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
        }), host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty })
      else { return nil }
      rest = lower[end...]
    }
    guard !rest.isEmpty else {
      port = nil
      return
    }
    let digits = rest.dropFirst()
    guard rest.first == ":", (1...5).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
      (1...65535).contains(number)
    else { return nil }
    port = number
  }

  package var text: String { port.map { "\(host):\($0)" } ?? host }

  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}

/// An absolute http or https address without user information and fragment.
struct Address {
  let scheme: String
  let host: HostAndPort

  init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    scheme = text[..<colon].lowercased()
    guard scheme == "https" || scheme == "http", text[colon...].hasPrefix("://"),
      text.utf8.count <= 2000,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Array("\"<>\\^`{|}#".utf8).contains($0) })
    else { return nil }
    let rest = text[colon...].dropFirst(3)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard let host = HostAndPort(String(rest[..<end])) else { return nil }
    self.host = host
  }
}
