import Accounts
import Faults
import HTTPTypes
import Time

/// What comes before a request is sent.
package enum RequestStart: Sendable {
  case send(RequestAttempt)
  /// The provider has asked for silence.
  case wait(seconds: Int64)
  /// Something was renewed; from the beginning.
  case again
}

extension Session {
  /// Seconds that a token must still be good for before a long body is begun: it is read once, and a
  /// token that ends on the way wastes it.
  static let longBodyMargin: Int64 = 300

  /// Allows a request, renews what has ended, and heeds the provider's word to wait.
  ///
  /// - Throws: ``VaultError``, as ``send(_:app:account:permissions:strictly:seenBy:over:to:)`` does
  ///   before anything is sent.
  package func start(
    _ request: SignedRequest, app: String, account: String?, permissions: [String],
    strictly: Bool, seenBy view: View, _ tries: inout RequestTries, over network: Network
  ) async throws(VaultError) -> RequestStart {
    let attempt: RequestAttempt
    do throws(VaultError) {
      attempt = try self.attempt(
        request, app: app, account: account, permissions: permissions, strictly: strictly,
        seenBy: view, over: network)
    } catch {
      guard error.isRenewable, !tries.hasRenewed else { throw error }
      tries.hasRenewed = true
      try await renewExpired(
        app: app, account: account, permissions: permissions, seenBy: view, over: network)
      return .again
    }
    if let seconds = pauses.wait(attempt.client, now: now) {
      guard tries.mayWait(seconds) else {
        throw .paused(attempt.provider, until: now + seconds)
      }
      return .wait(seconds: seconds)
    }
    if request.upload?.isLong == true, !tries.hasRenewedEarly, attempt.canRenew,
      let end = attempt.endsAt, end.seconds - now.seconds < Self.longBodyMargin
    {
      tries.hasRenewedEarly = true
      // Where that fails the token is still good now, and may last; what allowed its use is looked at
      // again, since this took its time.
      _ = try await renew(
        attempt.account, clientID: attempt.access.clientID, over: network, .request)
      return .again
    }
    return .send(attempt)
  }
}

extension SignedRequest {
  /// - Throws: ``VaultError``: `tryAgain` where the body was read and cannot be sent again.
  func checkUnspent(for account: Account) throws(VaultError) {
    if upload?.body.isSpent == true { throw .bodySpent(account) }
  }
}

extension VaultError {
  static func bodySpent(_ account: Account) -> VaultError {
    VaultError(
      .tryAgain,
      "the provider wants the request for \(account.type) again, and its body, which was longer"
        + " than is kept, was read already; what it is signed with is renewed",
      hint: "send the request again", reason: .bodySpent)
  }
}
