internal import AccountVault
internal import Accounts
internal import Faults
internal import Listener

/// One thing that can be asked for: a method of a path.
struct AppRoute: Sendable {
  /// Serves an app whose key was shown, on the session in which it was found.
  typealias Serve = @Sendable (borrowing Session, AppCall) throws(VaultError) -> AppAnswer

  enum Kind: Sendable {
    /// The description of all of it, which needs no key.
    case description
    case session(Serve)
    /// The path is there, and takes these methods.
    case otherMethod([String])
  }

  let method: String
  let path: String
  let kind: Kind

  init(_ method: String, _ path: String, _ kind: Kind) {
    self.method = method
    self.path = path
    self.kind = kind
  }

  /// What a request is for. `HEAD` is served as `GET`, and its body is not sent.
  ///
  /// - Throws: ``VaultError``: `notFound` for a path that is none.
  static func find(_ request: SocketServer.Request) throws(VaultError) -> Kind {
    let target = request.message.target.utf8
    let isHead = request.message.method == "HEAD"
    var allowed: [String] = []
    for route in AppService.routes where isPath(route.path, of: target) {
      if route.method == (isHead ? "GET" : request.message.method) { return route.kind }
      allowed.append(route.method)
    }
    if allowed.isEmpty { throw VaultError(.notFound, "nothing is there") }
    if allowed.contains("GET") { allowed.append("HEAD") }
    return .otherMethod(allowed)
  }

  private static func isPath(_ path: String, of target: String.UTF8View) -> Bool {
    guard target.starts(with: path.utf8) else { return false }
    let rest = target.dropFirst(path.utf8.count)
    return rest.isEmpty || rest.first == UInt8(ascii: "?")
  }
}

/// A request of an app, once it is known whose it is.
struct AppCall: Sendable {
  let core: AgentCore
  let request: SocketServer.Request
  let app: App
}

/// What comes of it.
enum AppAnswer {
  case reply(SocketServer.Reply)
  /// It needs the network first. Called once the session is given back; it borrows others.
  case waiting(@Sendable () async throws(VaultError) -> SocketServer.Reply)
}
