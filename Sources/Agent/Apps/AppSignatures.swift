internal import AccountVault
internal import Accounts
internal import Command
internal import Faults
internal import Listener
internal import Sodium

/// `POST /v1/sign`: what makes a request one of an account, for an app that sends it itself.
enum AppSignatures {
  private static let members = ["account", "permissions", "method", "url", "form"]

  private struct Wanted: Sendable {
    let request: SignedRequest
    let account: String?
    let permissions: [String]
  }

  static let sign: AppRoute.Serve = { (session, call) throws(VaultError) in
    let wanted = try wanted(call)
    do throws(VaultError) {
      return .reply(try signed(wanted, call, session))
    } catch {
      guard error.isRenewable else { throw error }
      return .waiting { () async throws(VaultError) in
        let sessions = call.sessions
        try await sessions.withSession { (session) async throws(VaultError) in
          try await session.renewExpired(
            app: call.app.id, account: wanted.account, permissions: wanted.permissions,
            seenBy: .app, over: call.core.network)
        }
        // Another: it may have been locked meanwhile.
        return try await sessions.withSession { (session) throws(VaultError) in
          try signed(wanted, call, session)
        }
      }
    }
  }

  private static func wanted(_ call: AppCall) throws(VaultError) -> Wanted {
    let body = try call.body(members)
    guard let method = try body.word("method", SignedRequest.Method.self) else {
      throw .wrongBody("method is missing")
    }
    var request = SignedRequest(method, try body.need("url", in: 8...8192))
    if let form = try body.text("form", in: 0...65_536) {
      request.body = SignedRequest.Body(
        Array(form.utf8), contentType: "application/x-www-form-urlencoded")
    }
    return Wanted(
      request: request, account: try body.text("account"), permissions: try body.permissions())
  }

  private static func signed(
    _ wanted: Wanted, _ call: AppCall, _ session: borrowing Session
  ) throws(VaultError) -> SocketServer.Reply {
    let signature = try session.signature(
      of: wanted.request, app: call.app.id, account: wanted.account,
      permissions: wanted.permissions, seenBy: .app, over: call.core.network)
    call.core.metrics.count(.handOut(.signature))
    var line = SecretLine()
    var object = JSONObject()
    object.add("account", signature.account.text)
    object.add("url", signature.url)
    line.add(String(object.line.dropLast()))
    line.add(#","headers":["#)
    for (place, header) in signature.headers.enumerated() {
      var name = JSONObject()
      name.add("name", header.name)
      line.add(place == 0 ? "" : ",")
      line.add(String(name.line.dropLast()))
      line.add(#","value":"#)
      line.add(quoted: header.value.bytes)
      line.add("}")
    }
    line.add("]")
    if let query = signature.query {
      line.add(#","query":"#)
      line.add(quoted: query.bytes)
    }
    line.add("}\n")
    return .json(200, line.finish())
  }
}
