internal import Encoding
internal import Listener
internal import Sodium
internal import Synchronization

/// Answers what comes to a redirect address, and remembers whether the good one came.
final class Desk: Sendable {
  /// Get one element, when the good answer came and when its page was sent.
  let answered: AsyncStream<Void>
  let shown: AsyncStream<Void>
  private let wasAnswered: AsyncStream<Void>.Continuation
  private let wasShown: AsyncStream<Void>.Continuation

  private let path: String
  /// Where the browser is sent on to, so that the answer does not stay in its address bar and is in
  /// no `Referer`.
  private let landing = "/" + Hex.encode(Random.bytes(16))
  private let check: RedirectListener.Check
  private let state = Mutex(State())

  private struct State {
    /// What the `Host` header may say; nothing before the port is known.
    var hosts: [String] = []
    var isAnswered = false
  }

  init(_ path: String, _ check: @escaping RedirectListener.Check) {
    self.path = path
    self.check = check
    (answered, wasAnswered) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    (shown, wasShown) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Begins to accept requests that name this port.
  func open(_ host: LoopbackRedirect.Host, _ port: UInt16) {
    let names = host == .localhost ? [host.rawValue, "127.0.0.1", "[::1]"] : [host.rawValue]
    state.withLock { state in
      state.hosts = names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }
  }

  var isAnswered: Bool { state.withLock { $0.isAnswered } }

  func answer(_ request: HTTPServer.Request) -> HTTPServer.Response {
    // A page of another site whose name was made to lead here (DNS rebinding) has its own name there.
    guard let host = request.header("Host"), state.withLock({ $0.hosts.contains(host) }) else {
      return page(400, "This is not the address that was asked for.")
    }
    let isLanding = request.path == landing
    guard isLanding || request.path == path else { return page(404, "There is nothing here.") }
    guard request.method == "GET" else {
      var response = page(405, "This address can only be opened.")
      response.headers.append(("Allow", "GET"))
      return response
    }
    if isLanding {
      guard isAnswered else { return page(404, "There is nothing here.") }
      var response = page(
        200, "Your answer has arrived. You can close this page and go back to the terminal.")
      response.afterwards = { [wasShown] in wasShown.yield() }
      return response
    }
    let isGood = state.withLock { state -> Bool? in
      if state.isAnswered { return nil }
      state.isAnswered = check(request.query ?? "")
      return state.isAnswered
    }
    switch isGood {
    case nil: return page(410, "This address was used already.")
    case false?: return page(400, "This is not the answer to the question that was asked.")
    case true?:
      wasAnswered.yield()
      var response = page(303, "Your answer has arrived.")
      response.headers.append(("Location", landing))
      return response
    }
  }

  /// Fixed text: nothing of a request is ever shown.
  private func page(_ status: Int, _ text: String) -> HTTPServer.Response {
    HTTPServer.Response(
      status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
        (
          "Content-Security-Policy",
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
      ],
      body: Array(
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="color-scheme" content="light dark">
        <meta name="viewport" content="width=device-width">
        <title>AccountVault</title>
        <h1>AccountVault</h1>
        <p>\(text)</p>
        </html>

        """.utf8))
  }
}
