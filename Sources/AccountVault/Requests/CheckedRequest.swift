import Faults
import FileSystem
import HTTPTypes
import OAuth
import Providers
import Sodium

/// A request that was checked and encoded: each try signs and sends these very bytes.
struct CheckedRequest: Sendable {
  let method: SignedRequest.Method
  let url: RequestURL
  let headers: [(name: String, value: String)]
  let body: HTTPBody
  let limits: SignedRequest.Limits
  /// A body that may be read only once.
  let upload: ReplayedBody?

  /// Whether the caller asked for an answer only where something changed: then 304 is one.
  var isConditional: Bool {
    headers.contains {
      ["if-none-match", "if-modified-since"].contains($0.name.lowercased())
    }
  }

  /// Whether the answer may be a part of what there is (RFC 9110 section 14.2).
  var asksForPart: Bool {
    headers.contains { $0.name.lowercased() == "range" }
  }

  /// - Throws: ``VaultError``: `usage` for what is malformed, does not fit together or is the vault's
  ///   own to say; `notFound` for a file that is not there.
  ///
  /// - Parameter readsForm: Whether a body that is a form already is held to the rules of parameters.
  init(
    _ request: SignedRequest, for provider: Provider, readsForm: Bool = false
  ) throws(VaultError) {
    let isMultipart = !request.parts.isEmpty
    let hasBody = request.body != nil || request.upload != nil
    if request.body != nil, request.upload != nil {
      throw .wrong("a request has one body, and this one has two")
    }
    if isMultipart, hasBody {
      throw .wrong("a request has either a multipart form or a body of its own")
    }
    if isMultipart, !request.method.takesForm {
      throw .wrong("\(request.method.rawValue) has no form: parts belong to POST, PUT and PATCH")
    }
    if hasBody, request.method == .get || request.method == .head {
      throw .wrong("\(request.method.rawValue) has no body")
    }
    if hasBody, request.method.takesForm, !request.parameters.isEmpty {
      throw .wrong(
        "parameters are a form, and this request has another body: put them into the URL")
    }
    for name in request.parameters.map(\.name) + request.parts.map(\.name) {
      try Self.check(field: name, provider)
    }
    let inQuery = !request.method.takesForm ? request.parameters : []
    url = try Self.url(request.url, adding: inQuery, provider)
    method = request.method
    limits = request.limits
    upload = request.upload?.body
    var contentType: String?
    headers = try Self.headers(request.headers, &contentType)
    if contentType != nil, !hasBody {
      throw .wrong("the header Content-Type belongs to a body that is no form")
    }
    if isMultipart {
      body = .multipart(try Self.parts(request))
    } else if let given = request.body {
      try Self.check(mediaType: given.contentType)
      if readsForm || MediaType.isForm(given.contentType) {
        try Self.check(form: given, provider)
      }
      var bytes = given.bytes
      body = .bytes(
        SharedSecret(SecretBytes(wiping: &bytes)), contentType: contentType ?? given.contentType)
    } else if let given = request.upload {
      let type = contentType ?? given.contentType
      if let type { try Self.check(mediaType: type) }
      // Its fields could not be looked at before they are sent.
      if type.map(MediaType.isForm) == true {
        throw .wrong("an encoded form of this length is not sent: make it a multipart form")
      }
      if provider.protocol == .oauth1, provider.signsBodyHash {
        throw .wrong("\(provider.name) wants the hash of a body, and this one is too long for that")
      }
      body = .pulled(given.body, length: given.length, contentType: type)
    } else if request.method.takesForm, !request.parameters.isEmpty {
      body = .bytes(
        SharedSecret(Self.form(request.parameters)),
        contentType: "application/x-www-form-urlencoded")
    } else {
      body = .none
    }
  }

  // MARK: Address and parameters

  private static func url(
    _ text: String, adding parameters: [SignedRequest.Parameter], _ provider: Provider
  ) throws(VaultError) -> RequestURL {
    do throws(OAuthError) {
      let url = try RequestURL(text)
      // What follows `#` is never sent, so whoever wrote it meant something else.
      guard !url.hasFragment else { throw .badURL("a fragment") }
      if let query = url.query {
        for name in try names(ofForm: Array(query.utf8)) {
          if let refusal = refusal(ofField: name, provider) { throw .badURL(refusal) }
        }
      }
      guard !parameters.isEmpty else { return url }
      let query = parameters.map {
        PercentEncoding.strict.encode($0.name) + "=" + PercentEncoding.strict.encode($0.value)
      }.joined(separator: "&")
      let mark =
        switch url.query {
        case .none: "?"
        case .some(let query): query.isEmpty || query.hasSuffix("&") ? "" : "&"
        }
      return try RequestURL(text + mark + query)
    } catch {
      let why =
        switch error {
        case .badURL(let what): what
        case .badEscape: "a % that no two hexadecimal digits follow"
        default: "a query that cannot be read"
        }
      // The address is not shown: a token may stand in it.
      throw .wrong("the address of the request has \(why)")
    }
  }

  private static func form(_ parameters: [SignedRequest.Parameter]) -> SecretBytes {
    var form = FormBody(.strict)
    for parameter in parameters { form.append(parameter.name, parameter.value) }
    return form.finish()
  }

  private static func check(field name: String, _ provider: Provider) throws(VaultError) {
    if let refusal = refusal(ofField: name, provider) {
      throw .wrong("the request has \(refusal)")
    }
  }

  /// The fields of a form that comes encoded.
  private static func check(form body: SignedRequest.Body, _ provider: Provider) throws(VaultError)
  {
    let names: [String]
    do throws(OAuthError) {
      names = try Self.names(ofForm: body.bytes)
    } catch {
      // A server may read what we cannot.
      throw .wrong("the form of the request cannot be read, or is too long")
    }
    for name in names { try check(field: name, provider) }
  }

  /// The names of all fields that any server may see: some have a semicolon part them too, as HTML 4
  /// advised (appendix B.2.2).
  private static func names(ofForm bytes: [UInt8]) throws(OAuthError) -> [String] {
    var parted = bytes
    for index in parted.indices where parted[index] == UInt8(ascii: ";") {
      parted[index] = UInt8(ascii: "&")
    }
    // Our own array, which outlives the call.
    return try unsafe FormReply(parted.span.bytes).names
  }

  /// Why a field of this name is not the caller's: two tokens in one request make it anybody's guess
  /// whose it is, and one that was typed stands in the shell's history.
  private static func refusal(ofField name: String, _ provider: Provider) -> String? {
    let lower = name.lowercased()
    if provider.protocol == .oauth1, lower.hasPrefix("oauth_") {
      return "\(ProviderText.safe(name, limit: 60)), which belongs to the signature"
    }
    let owned = [
      provider.tokenParameter.lowercased(), "access_token", "oauth_token", "refresh_token",
      "client_secret", "appsecret_proof",
    ]
    guard owned.contains(lower) else { return nil }
    return "\(lower), which the vault sends itself where the provider wants it"
  }

  // MARK: Headers

  /// How the request is framed, where it goes, whose it is and how it came here.
  private static let owned: Set<String> = [
    "authorization", "proxy-authorization", "dpop", "cookie", "cookie2", "host", "content-length",
    "transfer-encoding", "te", "trailer", "connection", "keep-alive", "proxy-connection", "upgrade",
    "expect", "accept-encoding", "http2-settings", "forwarded", "via",
  ]

  private static func headers(
    _ headers: [(name: String, value: String)], _ contentType: inout String?
  ) throws(VaultError) -> [(name: String, value: String)] {
    guard headers.count <= 100 else { throw .wrong("a request has more than 100 headers") }
    var checked: [(name: String, value: String)] = []
    for (name, value) in headers {
      let shown = ProviderText.safe(name, limit: 60)
      guard !name.isEmpty, name.utf8.count <= 256, name.utf8.allSatisfy(isTokenByte) else {
        throw .wrong("\"\(shown)\" is no name of a header")
      }
      let lower = name.lowercased()
      guard !owned.contains(lower) else {
        throw .wrong("the header \(shown) is the vault's own to set")
      }
      // A line break in a value would begin a header of its own, or another request.
      let trimmed = trim(value)
      guard !trimmed.isEmpty, trimmed.utf8.count <= 8192,
        trimmed.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 9 })
      else { throw .wrong("the header \(shown) has no value, or one that is not a line of ASCII") }
      if lower == "content-type" {
        guard contentType == nil else { throw .wrong("the header \(shown) stands there twice") }
        contentType = trimmed
      } else {
        checked.append((name, trimmed))
      }
    }
    return checked
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func trim(_ text: String) -> String {
    var bytes = Array(text.utf8)[...]
    while let first = bytes.first, first == 0x20 || first == 9 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 9 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func check(mediaType: String) throws(VaultError) {
    guard !mediaType.isEmpty, mediaType.utf8.count <= 256,
      mediaType.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), mediaType.utf8.contains(0x2F)
    else { throw .wrong("a media type is written as TYPE/SUBTYPE") }
  }

  // MARK: Multipart

  private static func parts(_ request: SignedRequest) throws(VaultError) -> [HTTPBody.Part] {
    var parts: [HTTPBody.Part] = []
    for parameter in request.parameters {
      var bytes = Array(parameter.value.utf8)
      parts.append(
        HTTPBody.Part(
          name: parameter.name, content: .bytes(SharedSecret(SecretBytes(wiping: &bytes)))))
    }
    for part in request.parts {
      if let type = part.contentType { try check(mediaType: type) }
      var content: HTTPBody.Part.Content
      var fileName = part.fileName
      switch part.content {
      case .bytes(var bytes): content = .bytes(SharedSecret(SecretBytes(wiping: &bytes)))
      case .file(let path):
        try check(file: path)
        content = .file(path)
        fileName = fileName ?? path.split(separator: "/").last.map(String.init)
      }
      for name in [part.name, fileName ?? "-"]
      where name.isEmpty || name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
        throw .wrong("a part of a multipart form has no name, or one that is not a line of text")
      }
      parts.append(
        HTTPBody.Part(
          name: part.name, content: content, fileName: fileName, contentType: part.contentType))
    }
    return parts
  }

  /// Before anything is sent: a file that is missing is found here, and one that can be read only once
  /// could not be sent again.
  private static func check(file path: String) throws(VaultError) {
    let shown = ProviderText.name(path)
    let facts: FileFacts?
    do throws(FileError) { facts = try Files.target(of: path) } catch {
      throw VaultError(.io, "\(shown): \(error)")
    }
    guard let facts else { throw VaultError(.notFound, "\(shown): no such file") }
    guard facts.kind == .regular else {
      throw .wrong("\(shown) is no file that can be read more than once")
    }
  }
}

/// What a media type says.
enum MediaType {
  /// Whether it is `application/x-www-form-urlencoded`, whatever its parameters.
  static func isForm(_ type: String) -> Bool {
    type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
      == "application/x-www-form-urlencoded"
  }
}

extension VaultError {
  fileprivate static func wrong(_ message: String) -> VaultError {
    VaultError(.usage, message, hint: "vault help request")
  }
}
