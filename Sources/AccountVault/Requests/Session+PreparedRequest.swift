import Accounts
import Encoding
public import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium
import Store

/// A request as it would be sent, its secrets shown as `…`.
public struct PreparedRequest: Sendable {
  /// In upper case.
  public let method: String
  /// The address; a token in the query is hidden.
  public let url: String
  /// In their order. Of `Authorization` the scheme is shown, and what OAuth 1.0a does not keep secret.
  public let headers: [(name: String, value: String)]
  /// What goes up, told and not shown; nil for nothing.
  public let body: String?
}

extension Session {
  /// Checks and signs a request, and sends nothing.
  ///
  /// Grant, credential and host are checked as
  /// ``send(_:app:account:permissions:strictly:seenBy:over:to:)`` does. As no token leaves, neither
  /// a use nor a refusal is recorded, and a credential that has ended is not renewed.
  ///
  /// - Throws: ``VaultError``: what stands against sending it; `tryAgain` where the credential would be
  ///   renewed first.
  public func prepared(
    _ request: SignedRequest, app: String, account: String? = nil, permissions: [String] = [],
    over network: Network
  ) throws(VaultError) -> PreparedRequest {
    let found = try store.read { () throws(VaultError) -> AllowedRequest in
      let account = try usedAccount(
        app: app, account: account, permissions: permissions, seenBy: .owner)
      let checked = try CheckedRequest(request, for: provider(account.type))
      return try allowed(checked, app: app, on: account, permissions: permissions)
    }
    let definition = try provider(found.use.account.type)
    let opened = try access(
      to: found.use.account, clientID: found.use.token.clientID, over: network)
    var resource = ResourceRequest(found.request.method.rawValue, found.request.url)
    resource.headers = found.request.headers
    resource.body = found.request.body
    do throws(OAuthError) {
      return PreparedRequest(
        showing: try network.authorize(resource, by: opened.0, of: definition, time: now))
    } catch {
      throw VaultError(unmade: error, provider: definition)
    }
  }
}

extension PreparedRequest {
  fileprivate init(showing request: HTTPRequest) {
    method = request.method
    var url = request.url
    if let query = request.secretQuery {
      let names = query.withBytes { Self.fieldNames($0) }
      url += (url.contains("?") ? "&" : "?") + names.map { "\($0)=…" }.joined(separator: "&")
    }
    self.url = url
    var headers = request.secretHeaders.map { header in
      (name: header.name, value: header.value.withBytes { Self.shown($0) })
    }
    // A proof is good for one request, this one.
    headers += request.headers.map { $0.name == "DPoP" ? ($0.name, "…") : $0 }
    switch request.body {
    case .none: body = nil
    case .bytes(let bytes, let contentType):
      headers.append(("Content-Type", contentType))
      body = "\(bytes.count) bytes"
    case .pulled(_, let length, let contentType):
      if let contentType { headers.append(("Content-Type", contentType)) }
      body = length.map { "\($0) bytes" } ?? "a body of unknown length"
    case .multipart(let parts):
      headers.append(("Content-Type", "multipart/form-data"))
      let names = parts.map { part in
        switch part.content {
        case .bytes(let bytes): "\(part.name) (\(bytes.count) bytes)"
        case .file(let path): "\(part.name) (file \(path))"
        }
      }
      body = "\(parts.count) parts: " + names.joined(separator: ", ")
    }
    self.headers = headers
  }

  private static let publicFields: Set<String> = [
    "realm", "oauth_consumer_key", "oauth_nonce", "oauth_timestamp", "oauth_signature_method",
    "oauth_version", "oauth_body_hash",
  ]

  /// The scheme, and behind `OAuth` the fields that are no secrets. No text is made of the others.
  private static func shown(_ value: RawSpan) -> String {
    var start = 0
    while start < value.byteCount, value.byte(start) != 0x20 { start += 1 }
    let scheme = text(value, 0..<start)
    guard scheme == "OAuth" else { return scheme + " …" }
    var fields: [String] = []
    start += 1
    while start < value.byteCount {
      var end = start
      while end < value.byteCount, value.byte(end) != 0x2C { end += 1 }
      while start < end, value.byte(start) == 0x20 { start += 1 }
      var sign = start
      while sign < end, value.byte(sign) != 0x3D { sign += 1 }
      let name = text(value, start..<sign)
      fields.append(publicFields.contains(name) ? text(value, start..<end) : "\(name)=\"…\"")
      start = end + 1
    }
    return scheme + " " + fields.joined(separator: ", ")
  }

  private static func fieldNames(_ query: RawSpan) -> [String] {
    var names: [String] = []
    var start = 0
    while start < query.byteCount {
      var end = start
      while end < query.byteCount, query.byte(end) != 0x26 { end += 1 }
      var sign = start
      while sign < end, query.byte(sign) != 0x3D { sign += 1 }
      names.append(text(query, start..<sign))
      start = end + 1
    }
    return names
  }

  private static func text(_ bytes: RawSpan, _ range: Range<Int>) -> String {
    String(decoding: range.map { bytes.byte($0) }, as: UTF8.self)
  }
}
