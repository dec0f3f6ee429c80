public import Accounts
public import Faults
package import HTTPTypes
public import Ledger
import OAuth
package import Providers
import Sodium
import Store

/// What a provider says of a credential that was looked up.
public struct Introspection: Sendable {
  /// What is known after the look-up.
  public enum Standing: String, Sendable {
    /// The token lives.
    case active
    /// It is dead, or the person must act at the provider's site; ``Introspection/errorClass`` says
    /// which.
    case refused
    /// The provider did not say: it is busy, out of reach, or refused our client.
    case unanswered
    /// The provider has no way to ask, or something that it wants is not in the vault.
    case notPossible = "not_possible"
  }

  /// The account's id.
  public let account: AccountID
  /// The client that the token was issued to; empty where that is not known.
  public let clientID: String
  /// Of the credential that was looked up.
  public let generation: Int64
  /// What came of it.
  public let standing: Standing
  /// The class in the error catalogue; nil for a token that lives.
  public let errorClass: String?
  /// For people: why, where the look-up was not possible or was refused.
  public let reason: String?
  /// What the ledger keeps of the answer.
  public let evidence: Evidence?
  /// What the token may do at the provider, where the answer says.
  public let scopes: [String]?
  /// What changed in the vault, such as `rejected`, `lost_on_site` or `narrowed`.
  public let effect: String
}

extension Session {
  /// Looks a credential up at its provider, and takes the answer into the vault and its ledger.
  ///
  /// - Throws: ``VaultError``: `signIn` where the account has no credential of that client; `config`
  ///   where the request cannot be made.
  public func introspect(
    _ account: Account, clientID: String, over network: Network
  ) async throws(VaultError) -> Introspection {
    let (access, credential) = try access(to: account, clientID: clientID, over: network)
    let provider = try provider(account.type)
    let lookup = try await network.introspect(
      access, provider, canRenew: credential.canRenew(provider))
    func answer(
      _ standing: Introspection.Standing, _ refusal: Classification? = nil, reason: String? = nil,
      evidence: Evidence? = nil, scopes: [String]? = nil, taken: Taken = Taken(.nothing)
    ) -> Introspection {
      Introspection(
        account: account.id, clientID: clientID, generation: credential.generation,
        standing: standing, errorClass: refusal?.errorClass.rawValue, reason: reason,
        evidence: evidence, scopes: scopes, effect: taken.effect.rawValue)
    }
    switch lookup {
    case .alive(let report, let response):
      var taken = Taken(.nothing)
      if let scopes = report.scopes {
        taken = try take(
          Granted(granted: scopes), body: response, for: account, clientID: clientID,
          generation: credential.generation)
      }
      return answer(
        .active, evidence: Evidence(response), scopes: report.scopes, taken: taken)
    case .refused(let refusal, let response):
      let taken = try take(
        refusal, body: response, for: account, clientID: clientID,
        generation: credential.generation)
      return answer(
        .refused, refusal, reason: refusal.advice, evidence: Evidence(refusal, response),
        taken: taken)
    case .unanswered(let refusal, let response):
      return answer(
        .unanswered, refusal, reason: refusal.advice, evidence: Evidence(refusal, response))
    case .impossible(let why): return answer(.notPossible, reason: why)
    }
  }

  /// Reads anew what the person granted at the provider, and takes it into the vault and its ledger.
  ///
  /// - Returns: Nil where the provider has no way to ask.
  /// - Throws: ``VaultError``: as ``introspect(_:clientID:over:)``; what the provider's refusal means,
  ///   after it was taken in.
  @discardableResult
  package func reread(
    _ account: Account, clientID: String, over network: Network
  ) async throws(VaultError) -> Taken? {
    let (access, credential) = try access(to: account, clientID: clientID, over: network)
    let provider = try provider(account.type)
    guard let granted = try await network.granted(to: access, provider) else { return nil }
    return try take(
      granted, for: account, clientID: clientID, generation: credential.generation)
  }

  /// Takes in a refusal of the API, after reading anew what is granted where a permission is missing.
  ///
  /// - Parameters:
  ///   - access: What the refused request was signed with.
  ///   - generation: Of that credential.
  @discardableResult
  package func settle(
    _ refusal: Classification, body response: HTTPResponse?, for account: Account,
    by access: Access, generation: Int64, permissions: [String] = [], over network: Network
  ) async throws(VaultError) -> Taken {
    var granted: Granted?
    if refusal.errorClass == .permission {
      let provider = try provider(account.type)
      // Where the re-read fails as well, the refusal is all that is known.
      granted = (try? await network.granted(to: access, provider)).flatMap { $0 }
    }
    return try take(
      refusal, body: response, for: account, clientID: access.clientID, generation: generation,
      permissions: permissions, granted: granted)
  }
}

extension Credential {
  /// Whether the provider's way of renewing can be tried with it.
  func canRenew(_ provider: Provider) -> Bool {
    switch provider.renewal.method {
    case .none: false
    case .exchange: true
    case .refreshToken: hasRefreshToken
    }
  }
}
