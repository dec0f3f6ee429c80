internal import CCurl
internal import Glibc
internal import HTTPTypes
internal import Sodium

/// Every option of a transfer, none left to what libcurl, its environment or its configuration thinks.
struct TransferSettings: Sendable {
  let userAgent: String
  let environment: HTTPEnvironment
  /// Where libcurl was built to look for authorities.
  private let builtInAuthorities: (file: String?, directory: String?)

  init(userAgent: String, environment: HTTPEnvironment) {
    self.userAgent = userAgent
    self.environment = environment
    LibraryStart.once()
    builtInAuthorities = Self.builtIn()
  }

  /// Makes `handle`, which is as new, ready for the transfer. What it points to is the transfer's and must
  /// last as long as the handle has it.
  ///
  /// - Throws: ``HTTPFailure/Kind/badRequest``, and ``HTTPFailure/Kind/file``
  func apply(
    to handle: UnsafeMutableRawPointer, _ transfer: Transfer
  ) throws(HTTPFailure) {
    var options = unsafe Options(handle)
    let request = transfer.request
    unsafe options.set(
      CURLOPT_URL, memory: transfer.url.address.assumingMemoryBound(to: CChar.self))
    options.set(CURLOPT_PROTOCOLS_STR, transfer.target.isLoopback ? "http,https" : "https")
    setSecurity(&options)
    setWay(&options, transfer.target, mayPause: request.mayPause)
    setLimits(&options, request.limits, transfer.deadline)
    setHeaders(&options, transfer)
    setBody(&options, request)
    if case .multipart(let parts) = request.body {
      let form = try unsafe MultipartForm(parts, handle)
      transfer.form = form
      unsafe options.set(CURLOPT_MIMEPOST, pointer: UnsafeMutableRawPointer(form.mime))
      options.set(CURLOPT_MIME_OPTIONS, 0)
      if request.method != "POST" { options.set(CURLOPT_CUSTOMREQUEST, request.method) }
    }
    Callbacks.set(&options, transfer)
    guard options.problem == CURLE_OK else {
      throw .badRequest("\(transfer.target.host): libcurl does not take the request")
    }
  }

  private func setSecurity(_ options: inout Options) {
    options.set(CURLOPT_SSL_VERIFYPEER, 1)
    options.set(CURLOPT_SSL_VERIFYHOST, 2)
    options.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    options.set(CURLOPT_SSL_SESSIONID_CACHE, 1)
    options.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
    options.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
    options.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    // The store of authorities, which takes tens of milliseconds to load, is kept only where there is no
    // directory, so that is left out where there is a file.
    let isChosen = environment.authorityFile != nil || environment.authorityDirectory != nil
    let file = isChosen ? environment.authorityFile : builtInAuthorities.file
    let directory =
      isChosen
      ? environment.authorityDirectory : file == nil ? builtInAuthorities.directory : nil
    for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { options.set(option, file) }
    for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { options.set(option, directory) }
    options.set(CURLOPT_CA_CACHE_TIMEOUT, 86_400)
    // A redirect would take the credential to where the server says.
    options.set(CURLOPT_FOLLOWLOCATION, 0)
    options.set(CURLOPT_MAXREDIRS, 0)
    options.set(CURLOPT_UNRESTRICTED_AUTH, 0)
    options.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    options.set(CURLOPT_COOKIEFILE, nil)
    options.set(CURLOPT_HSTS_CTRL, 0)
    // It would print headers and bodies.
    options.set(CURLOPT_VERBOSE, 0)
  }

  private func setWay(_ options: inout Options, _ target: Target, mayPause: Bool) {
    options.set(CURLOPT_PATH_AS_IS, 1)
    // An empty text keeps libcurl from reading the environment itself.
    options.set(CURLOPT_PROXY, target.isLoopback ? "" : environment.proxy ?? "")
    options.set(CURLOPT_NOPROXY, environment.noProxy ?? "")
    options.set(CURLOPT_PROXYAUTH, 1)
    options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    options.set(
      CURLOPT_HTTP_VERSION, Int(mayPause ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS))
    options.set(CURLOPT_HTTP09_ALLOWED, 0)
    // Rather one more stream than one more handshake. Without TLS nothing tells early whether there are
    // streams, and all would wait for the first reply.
    options.set(CURLOPT_PIPEWAIT, target.isSecure && !mayPause ? 1 : 0)
    options.set(CURLOPT_TCP_NODELAY, 1)
    options.set(CURLOPT_TCP_KEEPALIVE, 1)
    // Servers close what is idle; what is taken just then fails.
    options.set(CURLOPT_MAXAGE_CONN, 60)
    options.set(CURLOPT_NOSIGNAL, 1)
    // Without it, the end of a transfer whose host is still looked for blocks all others.
    options.set(CURLOPT_QUICK_EXIT, 1)
  }

  private func setLimits(_ options: inout Options, _ limits: HTTPLimits, _ deadline: Int64?) {
    options.set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(limits.connect, 1)))
    // One more: the time at which it began was rounded down, and it must not end before its total.
    let left = deadline.map { max($0 - Milliseconds.now() + 1, 1) } ?? 0
    options.set(CURLOPT_TIMEOUT_MS, Int(left))
    options.set(CURLOPT_LOW_SPEED_LIMIT, 1)
    options.set(CURLOPT_LOW_SPEED_TIME, Int(max(limits.stall, 1)))
    options.set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1)
  }

  private func setHeaders(_ options: inout Options, _ transfer: Transfer) {
    let names = Set(transfer.request.headers.map { $0.name.lowercased() })
    unsafe options.set(CURLOPT_HTTPHEADER, pointer: UnsafeMutableRawPointer(transfer.headers.first))
    // None of them goes to a proxy.
    options.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    options.set(CURLOPT_USERAGENT, names.contains("user-agent") ? nil : userAgent)
    // Whoever names the encodings also decodes them.
    let isOwn = names.contains("accept-encoding")
    options.set(CURLOPT_ACCEPT_ENCODING, isOwn ? nil : "gzip, deflate")
    options.set(CURLOPT_TRANSFER_ENCODING, 0)
  }

  private func setBody(_ options: inout Options, _ request: HTTPRequest) {
    switch (request.body, request.method) {
    case (.none, "GET"): options.set(CURLOPT_HTTPGET, 1)
    case (.none, "HEAD"): options.set(CURLOPT_NOBODY, 1)
    case (.none, "POST"), (.none, "PUT"), (.none, "PATCH"):
      // A length of nought is told, which servers want of these (RFC 9110 section 8.6).
      options.set(CURLOPT_POST, 1)
      options.set(CURLOPT_POSTFIELDSIZE_LARGE, count: 0)
      options.set(CURLOPT_POSTFIELDS, literal: "")
      if request.method != "POST" { options.set(CURLOPT_CUSTOMREQUEST, request.method) }
    case (.none, _):
      options.set(CURLOPT_HTTPGET, 1)
      options.set(CURLOPT_CUSTOMREQUEST, request.method)
    case (.bytes(let bytes, _), _):
      options.set(CURLOPT_POST, 1)
      options.set(CURLOPT_POSTFIELDSIZE_LARGE, count: Int64(bytes.count))
      if bytes.count == 0 {
        options.set(CURLOPT_POSTFIELDS, literal: "")
      } else {
        // Not copied by libcurl; the request keeps it.
        unsafe options.set(CURLOPT_POSTFIELDS, pointer: bytes.bytes.address)
      }
      if request.method != "POST" { options.set(CURLOPT_CUSTOMREQUEST, request.method) }
    case (.pulled(_, let length, _), _):
      options.set(CURLOPT_POST, 1)
      // Without a length it goes in chunks.
      options.set(CURLOPT_POSTFIELDSIZE_LARGE, count: length ?? -1)
      if request.method != "POST" { options.set(CURLOPT_CUSTOMREQUEST, request.method) }
    case (.multipart, _): break
    }
  }

  private static func builtIn() -> (file: String?, directory: String?) {
    guard let handle = unsafe curl_easy_init() else { fatalError("no memory for a request") }
    defer { unsafe curl_easy_cleanup(handle) }
    func text(_ info: CURLINFO) -> String? {
      var text: UnsafeMutableRawPointer?
      unsafe vault_curl_get_pointer(handle, info, &text)
      // The library's own constant.
      guard let text = unsafe text else { return nil }
      return unsafe String(validatingCString: text.assumingMemoryBound(to: CChar.self))
    }
    let file = text(CURLINFO_CAINFO)
    return (
      file.flatMap { unsafe access($0, R_OK) == 0 ? $0 : nil }, text(CURLINFO_CAPATH)
    )
  }
}

/// Sets options of a handle and keeps the first problem.
@safe struct Options {
  private let handle: UnsafeMutableRawPointer
  private(set) var problem = CURLE_OK

  init(_ handle: UnsafeMutableRawPointer) {
    unsafe self.handle = handle
  }

  private mutating func note(_ code: CURLcode) {
    if problem == CURLE_OK { problem = code }
  }

  mutating func set(_ option: CURLoption, _ value: Int) {
    unsafe note(vault_curl_set_number(handle, option, value))
  }

  mutating func set(_ option: CURLoption, count: Int64) {
    unsafe note(vault_curl_set_count(handle, option, curl_off_t(count)))
  }

  /// libcurl copies the text.
  mutating func set(_ option: CURLoption, _ text: String?) {
    if let text {
      unsafe note(vault_curl_set_text(handle, option, text))
    } else {
      unsafe note(vault_curl_set_text(handle, option, nil))
    }
  }

  /// The same for memory that is not Swift's.
  mutating func set(_ option: CURLoption, memory text: UnsafePointer<CChar>) {
    unsafe note(vault_curl_set_text(handle, option, text))
  }

  /// libcurl keeps the address.
  mutating func set(_ option: CURLoption, literal: StaticString) {
    unsafe note(
      vault_curl_set_pointer(handle, option, UnsafeMutableRawPointer(mutating: literal.utf8Start)))
  }

  /// libcurl keeps the address.
  mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
    unsafe note(vault_curl_set_pointer(handle, option, pointer))
  }

  mutating func set(_ option: CURLoption, _ callback: curl_write_callback) {
    unsafe note(vault_curl_set_data(handle, option, callback))
  }

  mutating func setProgress(_ callback: curl_xferinfo_callback) {
    unsafe note(vault_curl_set_progress(handle, callback))
  }

  mutating func setPrerequest(_ callback: curl_prereq_callback) {
    unsafe note(vault_curl_set_prerequest(handle, callback))
  }
}
