internal import HTTPTypes
internal import Sodium

/// Builds what of a request is text for libcurl: the address and the header lines.
enum RequestLines {
  /// Headers that say where a message ends or whom it is for. Those are libcurl's to write: a second one
  /// lets the server and what stands before it read two different messages (request smuggling, RFC 9112
  /// section 11.2).
  private static let framing: Set<String> = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The address with its secret part, ending in a zero byte.
  static func url(of request: HTTPRequest) throws(HTTPFailure) -> SecretBytes {
    var url = SecretBuffer(capacity: request.url.utf8.count + (request.secretQuery?.count ?? 0) + 2)
    url.append(request.url)
    if let secret = request.secretQuery {
      let isVisible = secret.withBytes { bytes in
        bytes.isAll { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
      }
      guard isVisible else { throw .badRequest("the secret part of the query is not encoded") }
      if !request.url.contains("?") {
        url.append("?")
      } else if request.url.last != "?", request.url.last != "&" {
        url.append("&")
      }
      secret.withBytes { url.append($0) }
    }
    url.append("\0")
    return url.finish()
  }

  /// Every header, and what keeps libcurl from adding those that it thinks fit.
  static func headers(of request: HTTPRequest) throws(HTTPFailure) -> HeaderList {
    var lines = SecretBuffer(capacity: 1024)
    var starts: [Int] = []
    var hasContentType = false
    for (name, value) in request.headers {
      try check(name)
      let bytes = Array(value.utf8)
      guard bytes.allSatisfy(isAllowed) else { throw .badRequest("\(name): not a header's value") }
      hasContentType = hasContentType || name.lowercased() == "content-type"
      starts.append(lines.count)
      // libcurl takes a name with a colon alone for a header to leave out.
      lines.append(value.isEmpty ? "\(name);\0" : "\(name): \(value)\0")
    }
    for (name, value) in request.secretHeaders {
      try check(name)
      guard value.withBytes({ $0.isAll(isAllowed) }) else {
        throw .badRequest("\(name): not a header's value")
      }
      starts.append(lines.count)
      lines.append(value.count == 0 ? "\(name);" : "\(name): ")
      value.withBytes { lines.append($0) }
      lines.append("\0")
    }
    var bodyType: String?
    switch request.body {
    case .bytes(_, let type): bodyType = type
    case .pulled(_, _, let type): bodyType = type
    case .none, .multipart: break
    }
    if let contentType = bodyType, !hasContentType {
      guard contentType.utf8.allSatisfy(isAllowed), !contentType.isEmpty else {
        throw .badRequest("the body has no media type")
      }
      starts.append(lines.count)
      lines.append("Content-Type: \(contentType)\0")
    }
    var hasType = hasContentType || bodyType != nil
    if case .multipart = request.body { hasType = true }
    if !hasType {
      starts.append(lines.count)
      lines.append("Content-Type:\0")
    }
    // Servers that do not know it let the body wait for a second.
    starts.append(lines.count)
    lines.append("Expect:\0")
    return HeaderList(lines, starts: starts)
  }

  /// - Throws: For a name that is no token (RFC 9110 section 5.6.2), and for one of ``framing``.
  private static func check(_ name: String) throws(HTTPFailure) {
    let isToken = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }
    guard isToken, !name.isEmpty else { throw .badRequest("a header's name is not one") }
    guard !framing.contains(name.lowercased()) else {
      throw .badRequest("\(name): this header is not the request's to set")
    }
  }

  /// A line feed would begin another header, or a body (header injection).
  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
  }
}

extension RawSpan {
  func isAll(_ condition: (UInt8) -> Bool) -> Bool {
    for index in 0..<byteCount
    where !condition(unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)) {
      return false
    }
    return true
  }
}
