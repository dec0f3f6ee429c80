internal import CMicroHTTPD
internal import Glibc

/// Where a request's body ends, as its headers say (RFC 9112 sections 5.1 and 6.3).
///
/// libmicrohttpd takes the first length of several, a length beside a transfer coding for nothing, and
/// a coding that it does not know for a body without an end. Two programs that read one such request
/// each in their own way take a part of its body for another request.
enum Framing {
  private struct Seen {
    var lengths = 0
    var codings = 0
    var isKnown = true
  }

  /// Whether there is only one way to read it.
  static func isClear(of connection: OpaquePointer) -> Bool {
    var seen = Seen()
    // The counts are lent to the callback for the length of the call.
    unsafe withUnsafeMutablePointer(to: &seen) { seen in
      _ = unsafe MHD_get_connection_values(
        connection, .HEADER_KIND,
        { seen, _, name, value in
          guard let name = unsafe name else { return .YES }
          let seen = unsafe seen!.assumingMemoryBound(to: Seen.self)
          if unsafe strcasecmp(name, "Content-Length") == 0 { unsafe seen.pointee.lengths += 1 }
          if unsafe strcasecmp(name, "Transfer-Encoding") == 0 {
            unsafe seen.pointee.codings += 1
            let isChunked = unsafe value.map { unsafe strcasecmp($0, "chunked") == 0 } ?? false
            if !isChunked { unsafe seen.pointee.isKnown = false }
          }
          // A name that ends with a space is another one to whoever does not take the space away.
          let end = unsafe strpbrk(name, " \t")
          if unsafe end != nil { unsafe seen.pointee.isKnown = false }
          return .YES
        }, seen)
    }
    return seen.lengths + seen.codings <= 1 && seen.isKnown
  }
}
