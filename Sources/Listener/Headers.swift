internal import CMicroHTTPD

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
}
