import Accounts
import Faults
import OAuth
import Providers
import Sodium
import Store

extension Session {
  /// Gives a new token back to the provider that the vault does not take, so that nobody has it: of
  /// another person, or of a person that the provider did not tell.
  ///
  /// Not where the vault may hold an older token of the same person and client: many servers end both
  /// (RFC 7009 section 2.1), and the account that was signed in by mistake would lose its own. Only
  /// by RFC 7009, which ends one token; the other ways may take back the whole app. What goes wrong
  /// here changes nothing: the token is forgotten and ends by itself.
  func giveBack(
    _ access: Access, refresh: SharedSecret?, of plan: SignInPlan, _ subject: SignInSubject,
    _ reason: VaultError, over network: Network
  ) async {
    guard reason.code == .wrongUser, !holdsOther(plan, subject),
      plan.provider.revocation == .rfc7009, let url = plan.server.endpoints[.revoke]
    else { return }
    let token = refresh ?? access.accessToken
    _ = try? await network.exchange(
      with: url, at: .revoke, of: plan.provider, proof: access.proof
    ) { (time) throws(OAuthError) in
      try OAuth2.revocation(
        at: url, of: token.bytes, refresh == nil ? .accessToken : .refreshToken,
        by: network.oauth2(plan.client, plan.provider, time: time))
    }
  }

  /// Whether another account of the type has a credential of this client.
  private func holdsOther(_ plan: SignInPlan, _ subject: SignInSubject) -> Bool {
    var isHeld = false
    do throws(VaultError) {
      try forEachAccount(type: subject.type) { (account) throws(VaultError) in
        isHeld =
          account.id != subject.known?.id
          && account.clients.contains { same($0, plan.client.client.clientID) }
        return !isHeld
      }
    } catch {
      return true
    }
    return isHeld
  }
}
