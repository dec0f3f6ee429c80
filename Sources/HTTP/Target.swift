internal import CCurl
internal import HTTPTypes

/// Where a request goes, as libcurl itself reads the address: a reading of our own could differ from
/// it, and one of them would be deceived.
struct Target: Sendable {
  /// In lower case; of an IPv6 address with its brackets. For texts.
  let host: String
  /// Whether it is an address of this machine by its name alone.
  let isLoopback: Bool
  let isSecure: Bool

  /// - Throws: ``HTTPFailure/Kind/badRequest`` for an address that is not absolute HTTPS, or HTTP to this
  ///   machine.
  init(_ url: String) throws(HTTPFailure) {
    // What is not a visible character of ASCII would be encoded, or end a line of the request.
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw .badRequest("the address is not encoded, or has a fragment")
    }
    LibraryStart.once()
    guard let handle = unsafe curl_url() else { fatalError("no memory for an address") }
    defer { unsafe curl_url_cleanup(handle) }
    let flags = UInt32(CURLU_PATH_AS_IS | CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME)
    // libcurl would take what follows a third slash for the host.
    guard !url.lowercased().hasPrefix("https:///"), !url.lowercased().hasPrefix("http:///"),
      unsafe curl_url_set(handle, CURLUPART_URL, url, flags) == CURLUE_OK,
      let scheme = unsafe Self.part(CURLUPART_SCHEME, of: handle),
      let host = unsafe Self.part(CURLUPART_HOST, of: handle)
    else {
      throw .badRequest("the address is no URL without a user")
    }
    self.host = host.lowercased()
    isSecure = scheme == "https"
    isLoopback = Self.isLoopback(self.host)
    guard isSecure || scheme == "http" && isLoopback else {
      throw .badRequest(
        scheme == "http"
          ? "\(self.host): plain http goes to this machine alone" : "the address is not https")
    }
  }

  /// `localhost`, which libcurl never asks the network about, and the addresses of loopback, which it has
  /// brought into their plain form.
  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127"
      && numbers.allSatisfy { number in
        guard let value = UInt8(number) else { return false }
        return "\(value)" == number
      }
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text = unsafe text else {
      return nil
    }
    // libcurl gave the text to us.
    defer { unsafe curl_free(text) }
    return unsafe String(validatingCString: text)
  }
}

extension HTTPFailure {
  static func badRequest(_ text: String) -> HTTPFailure {
    HTTPFailure(.badRequest, text, mayHaveBeenSent: false)
  }
}

/// libcurl's own start, once in a process, with memory that is wiped when it is freed.
enum LibraryStart {
  private static let code = vault_curl_start()

  static func once() {
    if code != CURLE_OK { fatalError("no memory for libcurl") }
  }
}
