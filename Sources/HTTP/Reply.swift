internal import HTTPTypes
internal import Sodium

/// Takes a reply as libcurl hands it over: line by line, then piece by piece.
struct Reply: ~Copyable {
  /// Bytes of header lines in one transfer, those of interim replies among them: a server that never
  /// ends them would fill the memory.
  static let headerLimit = 128 << 10

  private(set) var status = 0
  private(set) var headers: [(name: String, value: String)] = []
  /// Whether the headers of the reply proper are whole. Header lines after that are trailers, which
  /// nobody asked for.
  private(set) var isBegun = false
  private var headerCount = 0
  private(set) var bodyCount = 0
  private var body = SecretBuffer(capacity: 1024)

  enum Step {
    case more
    /// The headers are whole.
    case begun
    case tooLarge
  }

  mutating func take(line: RawSpan) -> Step {
    headerCount += line.byteCount
    guard headerCount <= Self.headerLimit else { return .tooLarge }
    guard !isBegun else { return .more }
    let text = unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      .trimmingEnd()
    if text.isEmpty {
      // An interim reply (RFC 9110 section 15.2), and then the next.
      if (100..<200).contains(status) {
        headers = []
        return .more
      }
      isBegun = true
      return .begun
    }
    if text.hasPrefix("HTTP/") {
      headers = []
      let words = text.split(separator: " ", maxSplits: 2)
      status = words.count > 1 ? Int(words[1]) ?? 0 : 0
    } else if text.first == " " || text.first == "\t" {
      // A folded line (RFC 9112 section 5.2).
      if let last = headers.indices.last { headers[last].value += " " + text.trimmed() }
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      let value = text[text.utf8.index(after: colon)...]
      headers.append((String(text[..<colon]), value.trimmed()))
    }
    return .more
  }

  /// Counts a piece of the body.
  ///
  /// - Returns: False where it is more than `limit` by then.
  mutating func count(_ piece: Int, limit: Int) -> Bool {
    bodyCount += piece
    return bodyCount <= limit
  }

  mutating func keep(_ piece: RawSpan) {
    body.append(piece)
  }

  consuming func finish() -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: SharedSecret(body.finish()))
  }
}

extension StringProtocol {
  /// Without white space of HTTP at both ends.
  fileprivate func trimmed() -> String {
    String(String(self).trimmingEnd().drop { $0 == " " || $0 == "\t" })
  }

  fileprivate func trimmingEnd() -> Substring {
    var text = Substring(self).unicodeScalars
    while let last = text.last, last == "\r" || last == "\n" || last == " " || last == "\t" {
      text.removeLast()
    }
    return Substring(text)
  }
}
