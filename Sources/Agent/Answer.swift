package import Command
package import Faults
package import Listener
package import Sodium

extension SocketServer.Reply {
  /// An answer in JSON. Nothing on a way back may keep it: it may hold a token.
  package static func json(_ status: Int, _ body: consuming SecretBytes) -> SocketServer.Reply {
    SocketServer.Reply(
      status,
      headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: .bytes(SharedSecret(body)))
  }

  package static func json(_ status: Int, _ object: JSONObject) -> SocketServer.Reply {
    var bytes = Array((object.line + "\n").utf8)
    return json(status, SecretBytes(wiping: &bytes))
  }

  /// The error object of the contract, section 2, with the HTTP status that fits its code.
  package static func error(_ error: VaultError, status: Int? = nil) -> SocketServer.Reply {
    var inner = JSONObject()
    inner.add("code", error.code.rawValue)
    inner.add("message", error.message)
    inner.add("hint", error.hint)
    var object = JSONObject()
    object.add("error", inner)
    return json(status ?? error.code.httpStatus(error.reason), object)
  }
}

extension VaultError.Code {
  /// The HTTP status of an error with this code (RFC 9110 section 15).
  package func httpStatus(_ reason: VaultError.Reason) -> Int {
    switch self {
    case .usage, .config: 400
    case .denied, .neverAsked, .revoked, .wrongKey: 403
    case .notFound: 404
    case .exists, .signIn, .ambiguous, .wrongUser: 409
    case .tryAgain: reason == .throttled ? 429 : 503
    case .locked: 503
    case .failed, .damaged, .io, .newerFormat: 500
    }
  }
}
