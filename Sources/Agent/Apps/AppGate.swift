package import AccountVault
internal import Accounts
internal import Faults
package import Listener
internal import Sodium

/// Who asks on `apps.sock`: every request but that for the description passes here first.
package struct AppGate: Sendable {
  /// Requests of one app in a second, where nothing else was said.
  package static let usualRate = 1000

  private let rates: AppRates

  /// - Parameter rate: Requests that one app may make in a second; for a moment twice as many.
  package init(rate: Int) { rates = AppRates(perSecond: rate) }

  /// The app whose key the request shows.
  ///
  /// - Parameter session: What it is then served with, so that both see one state of the vault.
  /// - Throws: ``VaultError``: `wrongKey` with reason `appKey`; `tryAgain` with reason `appRate` where
  ///   it asks too often.
  package func app(
    of request: SocketServer.Request, in session: borrowing Session
  ) throws(VaultError) -> App {
    let app = try session.app(withKey: Self.key(of: request), shownBy: request.peer.user)
    guard rates.admits(app.id) else {
      throw VaultError(
        .tryAgain, "app \(app.id) asks more often than it may", reason: .appRate)
    }
    return app
  }

  /// The key that a request shows (RFC 6750 section 2.1). Empty, and so nobody's, where it shows none,
  /// or several.
  private static func key(of request: SocketServer.Request) -> Secret {
    var shown: [UInt8] = []
    var isSeen = false
    for header in request.message.headers where isAuthorization(header.name) {
      shown = isSeen ? [] : credentials(header.value)
      isSeen = true
    }
    return Secret(wiping: &shown)
  }

  private static func isAuthorization(_ name: String) -> Bool {
    // Most headers are told apart by their length.
    name.utf8.count == 13 && name.lowercased() == "authorization"
  }

  private static func credentials(_ value: String) -> [UInt8] {
    let scheme = "bearer "
    guard value.utf8.count > scheme.utf8.count,
      zip(value.utf8, scheme.utf8).allSatisfy({ $0 | 0x20 == $1 })
    else { return [] }
    return Array(value.utf8.dropFirst(scheme.utf8.count).drop { $0 == 0x20 })
  }
}
