import Store
import Accounts
public import Faults
import Providers
public import Time

/// Whether an account may be used, why not, and what comes next.
public struct Explanation: Sendable {
  /// The account and where each of its credentials stands.
  public let standing: Session.AccountStanding
  /// Why it may not be used; nil where it may.
  public let refusal: VaultError?
  /// What will happen next, in words.
  public let next: String
  /// When.
  public let nextAt: Timestamp?
}

extension Session {
  /// Says, without the network and without recording anything, whether an account may be used.
  ///
  /// - Parameter app: For this app and these permissions; without one, whether its credential is good.
  public func explain(_ text: String, app id: String? = nil, permissions: [String] = [])
    throws(VaultError) -> Explanation
  {
    try store.read { () throws(VaultError) in
      let account = try find(text)
      let standing = try standing(of: account)
      var refusal: VaultError?
      do throws(VaultError) {
        if let id {
          _ = try allowed(app: id, on: account, permissions: permissions, for: .token)
        } else {
          try checkAnyCredential(of: standing)
        }
      } catch {
        if error.code == .damaged || error.code == .notFound || error.code == .usage { throw error }
        refusal = error
      }
      let (next, nextAt) = try next(of: standing)
      return Explanation(standing: standing, refusal: refusal, next: next, nextAt: nextAt)
    }
  }

  private func checkAnyCredential(of standing: AccountStanding) throws(VaultError) {
    guard let first = standing.credentials.first else {
      throw VaultError(
        .signIn, "account \(ProviderText.name(standing.account.label)) has no credential",
        hint: signInHint(standing.account))
    }
    for candidate in standing.credentials
    where (try? checkState(candidate.credential, of: standing.account)) != nil { return }
    try checkState(first.credential, of: standing.account)
  }

  /// What comes next: the earliest end of what the account has.
  private func next(of standing: AccountStanding) throws(VaultError) -> (String, Timestamp?) {
    guard !standing.credentials.isEmpty else {
      return ("a person signs in, or a token response is given", nil)
    }
    let provider = try provider(standing.account.type)
    let canRenew = provider.renewal.method != .none
    var next = ("nothing: the token does not expire", Timestamp?.none)
    for candidate in standing.credentials {
      let credential = candidate.credential
      let ends = [
        (credential.expiry.time, "the token expires"),
        (credential.refreshExpiresAt, "the refresh token ends: a person must sign in by then"),
        (credential.dataAccessUntil, "access to the person's data ends: they must come back"),
      ]
      if let end = credential.expiry.time, end <= now {
        next = ("the token has expired: it is renewed, or a person signs in", nil)
        break
      }
      for case (let time?, let what) in ends where next.1.map({ time < $0 }) ?? true {
        let renewable =
          canRenew && (credential.hasRefreshToken || provider.renewal.method == .exchange)
        next = (
          what == "the token expires" && !renewable
            ? "the token expires and nothing can renew it: a person must sign in" : what, time
        )
      }
      if next.1 == nil, credential.expiry == .unknown {
        next.0 = "nothing that is known: the provider did not say when the token ends"
      }
    }
    return next
  }
}
