internal import AccountVault
internal import Faults
internal import Listener
internal import Providers

/// What an app says of the request that it wants sent: by `Vault-URL`, `Vault-Account` and
/// `Vault-Permissions`, and by the request itself.
struct SendOrder: Sendable {
  /// Bytes up to which a body is read before it is sent: a form that OAuth 1.0a signs, and what a
  /// signature may cover by its hash.
  static let wholeLimit: Int64 = 64 << 10

  private(set) var request: SignedRequest
  let account: String?
  let permissions: [String]
  /// Of the body; nil for none.
  let contentType: String?

  /// - Throws: ``VaultError``: `usage`, which names the header that is wrong.
  init(_ message: HTTPServer.Request) throws(VaultError) {
    guard let method = SignedRequest.Method(rawValue: message.method) else {
      throw .wrongSend("a request is one of GET, HEAD, POST, PUT, PATCH and DELETE")
    }
    guard message.query == nil else {
      throw .wrongSend("the query belongs to the address in Vault-URL")
    }
    var said: [String: String] = [:]
    var types: [String] = []
    for (name, value) in message.headers {
      let lower = name.lowercased()
      if lower == "content-type" { types.append(value) }
      guard lower.hasPrefix("vault-") else { continue }
      guard ["vault-url", "vault-account", "vault-permissions"].contains(lower) else {
        throw .wrongSend("there is no header \(ProviderText.safe(name, limit: 60))")
      }
      guard said.updateValue(value, forKey: lower) == nil else {
        throw .wrongSend("the header \(name) is there twice")
      }
    }
    guard types.count < 2 else { throw .wrongSend("the header Content-Type is there twice") }
    guard let url = said["vault-url"], (1...8192).contains(url.utf8.count) else {
      throw .wrongSend("the header Vault-URL must say where the request goes")
    }
    account = said["vault-account"]
    if let account, !(1...300).contains(account.unicodeScalars.count) {
      throw .wrongSend("Vault-Account has 1 to 300 characters")
    }
    var names: [String] = []
    if let list = said["vault-permissions"] {
      guard (1...4096).contains(list.unicodeScalars.count) else {
        throw .wrongSend("Vault-Permissions has 1 to 4096 characters")
      }
      for word in list.split(separator: ",", omittingEmptySubsequences: false) {
        let name = word.split(separator: " ").joined(separator: " ")
        guard (1...256).contains(name.unicodeScalars.count) else {
          throw .wrongSend("Vault-Permissions is a list of names with commas between them")
        }
        if !names.contains(name) { names.append(name) }
      }
    }
    guard names.count <= 100 else { throw .wrongSend("Vault-Permissions has at most 100 names") }
    permissions = names
    contentType = types.first.flatMap { $0.isEmpty ? nil : $0 }
    request = SignedRequest(method, url)
    request.headers = SendHeaders.sent(message.headers)
  }

  /// Whether the body is read before anything is sent.
  func isWhole(_ length: Int64?) -> Bool {
    if let length { return length <= Self.wholeLimit }
    return isForm
  }

  private var isForm: Bool {
    guard let type = contentType?.prefix(while: { $0 != ";" }) else { return false }
    return type.lowercased().filter { $0 != " " && $0 != "\t" }
      == "application/x-www-form-urlencoded"
  }

  /// Takes a body that was read.
  mutating func take(_ bytes: [UInt8]) {
    if let contentType {
      request.body = SignedRequest.Body(bytes, contentType: contentType)
    } else {
      request.upload = SignedRequest.Upload(
        SendBody(bytes, then: nil), length: Int64(bytes.count), contentType: nil)
    }
  }

  /// Takes a body that comes while it is sent, of which something may have been read already.
  mutating func take(_ body: IncomingBody, after bytes: [UInt8]) {
    request.upload = SignedRequest.Upload(
      SendBody(bytes, then: body), length: body.length, contentType: contentType)
  }
}

extension VaultError {
  fileprivate static func wrongSend(_ message: String) -> VaultError {
    VaultError(
      .usage, message, hint: "curl --unix-socket apps.sock http://vault/v1/openapi.json")
  }
}
