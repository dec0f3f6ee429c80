import Store
import Accounts
import Encoding
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

  /// What comes next of all that may happen to the account's credentials.
  private func next(of standing: AccountStanding) throws(VaultError) -> (String, Timestamp?) {
    guard !standing.credentials.isEmpty else {
      return ("a person signs in, or a token response is given", nil)
    }
    var next: (text: String, time: Timestamp?)?
    for candidate in standing.credentials {
      let found = try nextStep(of: candidate.credential, standing.account)
      guard let known = next else {
        next = found
        continue
      }
      if let time = found.time, known.time.map({ time < $0 }) ?? true { next = found }
    }
    return next ?? ("nothing", nil)
  }

  private func nextStep(of credential: Credential, _ account: Account)
    throws(VaultError) -> (text: String, time: Timestamp?)
  {
    let key = Records(store).credentialKey(account.id, client: credential.clientID)
    let record = try renewalRecord(of: credential, account, key)
    let client = ClientReference(type: account.type, clientID: credential.clientID)
    return RenewalForecast(
      schedule: RenewalSchedule(
        credential: credential, provider: try provider(account.type), seed: key.low),
      record: record, pace: try Records(store).pace(client),
      hasClient: try Records(store).client(client) != nil, now: now
    ).next
  }
}
