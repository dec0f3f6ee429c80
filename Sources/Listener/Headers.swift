internal import CMicroHTTPD
internal import Glibc
internal import Sodium

/// The headers of a request.
enum Headers {
  /// In their order, names as the client wrote them.
  static func all(of connection: OpaquePointer) -> [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    // The list is lent to the callback for the length of the call.
    unsafe withUnsafeMutablePointer(to: &found) { list in
      _ = unsafe MHD_get_connection_values(
        connection, .HEADER_KIND,
        { list, _, name, value in
          guard let name = unsafe name else { return .YES }
          unsafe list!.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(
            (String(cString: name), unsafe value.map { unsafe String(cString: $0) } ?? ""))
          return .YES
        }, list)
    }
    return found
  }

  /// The headers of a request as its service is shown them.
  struct Shown {
    /// All but `Authorization`.
    var headers: [(name: String, value: String)] = []
    /// The value of that; nil where there is none, empty where there are several.
    var authorization: SharedSecret?
  }

  /// Moves what says who asks out of libmicrohttpd's memory, which nobody wipes: it is zeros there from
  /// now on, and a `String`, which cannot be wiped, is never made of it. To be called once.
  static func take(of connection: OpaquePointer) -> Shown {
    var shown = Shown()
    // The value is lent to the callback for the length of the call.
    unsafe withUnsafeMutablePointer(to: &shown) { shown in
      _ = unsafe MHD_get_connection_values(
        connection, .HEADER_KIND,
        { shown, _, name, value in
          guard let name = unsafe name else { return .YES }
          let shown = unsafe shown!.assumingMemoryBound(to: Shown.self)
          guard unsafe strcasecmp(name, "Authorization") == 0 else {
            unsafe shown.pointee.headers.append(
              (String(cString: name), value.map { unsafe String(cString: $0) } ?? ""))
            return .YES
          }
          let isFirst = unsafe shown.pointee.authorization == nil
          var secret = SecretBytes(count: 0)
          if let value = unsafe value {
            // It stands in the connection's own buffer, which libmicrohttpd has read to the end of the
            // head; nothing in it is shared or constant.
            let count = unsafe strlen(value)
            let bytes = unsafe UnsafeRawBufferPointer(start: value, count: count)
            if isFirst { secret = unsafe SecretBytes(copying: bytes.bytes) }
            unsafe explicit_bzero(UnsafeMutableRawPointer(mutating: value), count)
          }
          unsafe shown.pointee.authorization = SharedSecret(secret)
          return .YES
        }, shown)
    }
    return shown
  }
}
