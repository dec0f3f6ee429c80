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
    guard let header = request.authorization else { return Secret(SecretBytes(count: 0)) }
    let scheme = Array("bearer ".utf8)
    return header.withBytes { bytes in
      func byte(_ place: Int) -> UInt8 {
        // A byte has no invalid form; every caller has held the place against the count.
        unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      }
      guard bytes.byteCount > scheme.count,
        scheme.indices.allSatisfy({ byte($0) | 0x20 == scheme[$0] })
      else { return Secret(SecretBytes(count: 0)) }
      var start = scheme.count
      while start < bytes.byteCount, byte(start) == 0x20 { start += 1 }
      return Secret(SecretBytes(copying: bytes.extracting(start..<bytes.byteCount)))
    }
  }
}
