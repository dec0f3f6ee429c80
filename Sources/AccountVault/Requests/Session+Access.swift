import Accounts
import Faults
import OAuth
import Providers
import Sodium
import Store

extension Session {
  /// What shows a provider that a request is of this account: the credential of one client, opened, with
  /// its client's secret and the key that the token is bound to.
  ///
  /// Nothing is decided here and nothing recorded: the caller has done both. The secrets live as long as
  /// the value that is returned; it is made for one request and dropped.
  ///
  /// - Parameter clientID: Empty where it is not known which client the token was issued to. A client
  ///   that was removed gives no secret.
  /// - Throws: ``VaultError``: `signIn` where there is no credential; `config` for a key that cannot be
  ///   used; `damaged`.
  package func access(
    to account: Account, clientID: String, over network: Network
  ) throws(VaultError) -> (Access, Credential) {
    try store.read { () throws(VaultError) in
      let records = Records(store)
      guard let (credential, row) = try records.credential(account.id, client: clientID) else {
        throw VaultError(
          .signIn, "account \(ProviderText.name(account.label)) has no credential",
          hint: signInHint(account))
      }
      let secret = try records.secret(of: row)
      let client = ClientReference(type: account.type, clientID: clientID)
      var clientSecret: SharedSecret?
      if !clientID.isEmpty, try records.client(client) != nil {
        clientSecret = try registeredClient(client).secret
      }
      var proof: DPoP.Key?
      switch secret.proofKey {
      case .some(let key):
        do throws(OAuthError) { proof = try network.signatures.proofKey(key) } catch {
          throw VaultError(unmade: error, provider: try provider(account.type))
        }
      case .none: break
      }
      var tokenSecret: SharedSecret?
      switch secret.tokenSecret {
      case .some(let secret): tokenSecret = SharedSecret(secret.copy())
      case .none: break
      }
      let access = Access(
        clientID: clientID, clientSecret: clientSecret, tokenType: credential.tokenType,
        accessToken: SharedSecret(secret.accessToken.copy()), tokenSecret: tokenSecret,
        proof: proof, userID: account.userID)
      return (access, credential)
    }
  }
}
