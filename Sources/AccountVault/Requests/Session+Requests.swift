import Accounts
public import Faults
import HTTPTypes
import Ledger
import OAuth
import Providers
import Store
import Time

extension Session {
  /// Signs a request for an account, sends it, and takes in what the answer says of the credential.
  ///
  /// Nothing is sent before the app's grant, the credential and its scopes, and the host were checked, and
  /// the use is in the ledger. A credential that has ended is renewed first. Where the provider says that
  /// it has expired, there is one renewal and one more try; where it says that the credential, the app's
  /// access or a permission is gone, vault and ledger are corrected. A retry is signed anew. Redirects are
  /// not followed.
  ///
  /// - Parameters:
  ///   - account: As a person would name it; nil for the one account on which the app holds these
  ///     permissions. Where several fit nothing is sent: never is a request sent unsigned.
  ///   - permissions: What it is for; of none, any live grant will do.
  ///   - strictly: Whether each request has an entry of its own.
  ///   - view: Whose word the account's name is, and whom a refusal is told.
  ///   - receiver: Gets the answer while it comes, a refusal as well; nil to have its body in the
  ///     response.
  /// - Returns: The provider's answer, a refusal too: ``SignedResponse/error`` says what it means.
  /// - Throws: ``VaultError`` where there is no answer: `neverAsked`, `denied`, `revoked`, `signIn`,
  ///   `ambiguous`, `notFound` and `usage` before anything was sent; `config` for a host that the
  ///   definition does not name; `tryAgain` for the network, and while the provider has asked for
  ///   silence.
  public func send(
    _ request: SignedRequest, app: String, account: String? = nil, permissions: [String] = [],
    strictly: Bool = false, seenBy view: View = .owner, over network: Network,
    to receiver: (any ResponseReceiver)? = nil
  ) async throws(VaultError) -> SignedResponse {
    let kept = KeptBody()
    var tries = RequestTries(waitsAtMost: request.limits.waitSeconds)
    while true {
      let attempt: RequestAttempt
      switch try await start(
        request, app: app, account: account, permissions: permissions, strictly: strictly,
        seenBy: view, &tries, over: network)
      {
      case .again: continue
      case .wait(let seconds):
        try await network.pause(seconds)
        continue
      case .send(let allowed): attempt = allowed
      }
      let reply = await attempt.send(over: network, to: receiver ?? kept)
      switch try await settle(reply, of: attempt, &tries, over: network) {
      case .again: try request.checkUnspent(for: attempt.account)
      case .wait(let seconds):
        try request.checkUnspent(for: attempt.account)
        try await network.pause(seconds)
      case .done(let answer):
        return SignedResponse(answer, of: attempt, body: receiver == nil ? kept.taken : [])
      }
    }
  }

  /// Renews the credential that a request needs and that has ended by its date.
  ///
  /// - Throws: ``VaultError``: what keeps it from being used, recorded as a refusal.
  package func renewExpired(
    app: String, account text: String?, permissions: [String], seenBy view: View,
    over network: Network
  ) async throws(VaultError) {
    let (account, clientID) = try store.read { () throws(VaultError) -> (Account, String) in
      let account = try usedAccount(
        app: app, account: text, permissions: permissions, seenBy: view)
      return (account, try credential(of: account, for: findApp(app)).0.clientID)
    }
    let renewal = try await renew(account, clientID: clientID, over: network, .request)
    if let error = failure(of: renewal) {
      try recordRefusal(
        error, app: app, account: account, permissions: permissions, seenBy: view)
      throw error
    }
  }

  /// Writes a refusal that no other call has written; of one kind the first in a minute, and the rest
  /// as a count.
  package func recordRefusal(
    _ error: VaultError, app: String, account: Account? = nil, permissions: [String],
    seenBy view: View
  ) throws(VaultError) {
    let kind = kind(
      of: error, app: app, account: account, permissions: permissions, seenBy: view)
    if uses.count(kind, now: now) != nil { return }
    let refusal = try store.write { () throws(VaultError) in
      try checkCaller()
      return try refuse(error, app: app, account: account, permissions: permissions, seenBy: view)
    }
    if let refusal { uses.begin(refusal.kind, label: refusal.label, now: now) }
  }

  /// What a renewal that gave no new credential means to who asked for one; nil where it gave one.
  func failure(of renewal: Renewal) -> VaultError? {
    let label = ProviderText.name(renewal.account.label)
    switch renewal.outcome {
    case .renewed: return nil
    case .notDue:
      // Nothing was to do: another process has just renewed it, or a wait holds it back.
      guard let time = renewal.nextAttemptAt, now < time else { return nil }
      return VaultError(
        .tryAgain, "the token of \(label) has expired and is not renewed before \(time)",
        hint: "vault renew \(renewal.account.id.text)", reason: .expired)
    case .rejected:
      return VaultError(
        .signIn,
        "the credential of \(label) is no longer good: "
          + (renewal.reason ?? "a person must sign in"),
        hint: signInHint(renewal.account))
    case .failed:
      let isOurs = renewal.errorClass == ErrorClass.config.rawValue
      var text = "the token of \(label) has expired and could not be renewed"
      if let reason = renewal.reason ?? renewal.errorClass { text += ": \(reason)" }
      if let time = renewal.nextAttemptAt { text += "; the next try is at \(time)" }
      return VaultError(
        isOurs ? .config : .tryAgain, text, hint: "vault renew \(renewal.account.id.text)",
        reason: .expired)
    }
  }
}

/// What one request may still do by itself.
package struct RequestTries {
  /// There is one renewal in a request, and one more try after it.
  package var hasRenewed = false
  /// Whether a credential was looked at that ends soon, before a long body.
  var hasRenewedEarly = false
  private var waitLeft: Int64

  package init(waitsAtMost seconds: Int64 = 0) { waitLeft = seconds }

  /// Takes so many seconds from what it may wait.
  mutating func mayWait(_ seconds: Int64) -> Bool {
    // Each wait costs at least a second, so that a provider which says "now" is not asked for ever.
    let cost = max(1, seconds)
    guard cost <= waitLeft else { return false }
    waitLeft -= cost
    return true
  }
}

extension VaultError {
  static func paused(_ provider: Provider, until time: Timestamp) -> VaultError {
    VaultError(.tryAgain, "\(provider.name) takes no request before \(time)", reason: .throttled)
  }
}
