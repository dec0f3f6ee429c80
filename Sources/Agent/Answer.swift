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
    if error.code == .ambiguous {
      // An id and a label each; the ids name them for a program.
      inner.add("candidates", error.candidates.map { String($0.prefix { $0 != " " }) })
    }
    var object = JSONObject()
    object.add("error", inner)
    var reply = json(status ?? error.code.httpStatus(error.reason), object)
    switch error.reason {
    // RFC 9110 section 11.6.1: a 401 says how to show who one is.
    case .appKey: reply.headers.append(("WWW-Authenticate", "Bearer"))
    // One more is let in within a second, whatever the rate.
    case .appRate: reply.headers.append(("Retry-After", "1"))
    default: break
    }
    return reply
  }

  /// A request that could be read in two ways.
  static var unclear: SocketServer.Reply {
    .error(VaultError(.usage, "the headers leave open where the body ends"))
  }

  /// RFC 9110 section 15.5.6.
  static func otherMethod(_ allowed: [String]) -> SocketServer.Reply {
    var reply = error(VaultError(.usage, "that is not done there"), status: 405)
    reply.headers.append(("Allow", allowed.joined(separator: ", ")))
    return reply
  }
}

extension VaultError.Code {
  /// The HTTP status of an error with this code (RFC 9110 section 15).
  package func httpStatus(_ reason: VaultError.Reason) -> Int {
    switch self {
    case .usage: reason == .tooLong ? 413 : reason == .mediaType ? 415 : 400
    case .config: 400
    case .wrongKey: reason == .appKey ? 401 : 403
    case .denied, .neverAsked, .revoked: 403
    case .notFound: 404
    case .exists, .signIn, .ambiguous, .wrongUser: 409
    case .tryAgain: reason == .throttled || reason == .appRate ? 429 : 503
    case .locked: 503
    case .failed, .damaged, .io, .newerFormat: 500
    }
  }
}
