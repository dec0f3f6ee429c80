public import Accounts
import Encoding
public import Faults
import JSON
import Ledger
import OAuth
import Providers
import Sodium
import Store
public import Time

/// What a provider's own message, that a person took the app away, changed here.
public struct Deauthorization: Sendable, Equatable {
  /// The account whose person it was.
  public let account: AccountID
  /// The client that signed it: the app that was taken away.
  public let clientID: String
  /// When the provider wrote it.
  public let issuedAt: Timestamp
  /// What changed in the vault: `lost_on_site`; `known` where it was so already; `superseded` where
  /// the person signed in after it.
  public let effect: String
}

extension Session {
  /// Takes in the `signed_request` that Facebook posts to an app's deauthorize callback: the credential
  /// of that person and client is rejected and every grant through it is lost on the site, in one
  /// transaction.
  ///
  /// Anybody can post to the callback. The signature is checked under the secret of each client of the
  /// type in constant time, and nothing of the message is read before it holds; whoever made it has the
  /// app's secret. A message that is sent again does no harm: what was signed in after it was issued
  /// stays. One from the future, which would outlive a later sign-in, is refused.
  ///
  /// - Parameter signedRequest: The value of the field, decoded from the form.
  /// - Returns: One for each account of the user that has a credential of the client.
  /// - Throws: ``VaultError``: `denied` where no client of the vault signed it, or it is no
  ///   deauthorization; `notFound` where it is nobody's here. Nothing is changed then.
  @discardableResult
  public func takeDeauthorization(
    _ signedRequest: String
  ) throws(VaultError) -> [Deauthorization] {
    let (client, payload) = try signedBy(signedRequest)
    let userID: String
    switch payload["user_id"] {
    case .string(let text) where !text.isEmpty: userID = text
    case .int(let number) where number > 0: userID = String(number)
    default: throw .noDeauthorization("it names no user")
    }
    guard case .int(let seconds) = payload["issued_at"], seconds > 0 else {
      throw .noDeauthorization("it does not say when it was issued")
    }
    let issuedAt = Timestamp(seconds: seconds)
    guard seconds <= now.seconds + 300 else {
      throw .noDeauthorization("it was issued in the future")
    }
    let evidence = Evidence(
      class: ErrorClass.revoked.rawValue,
      bodyHash: Hex.encode(SHA256.digest(Array(signedRequest.utf8)).bytes))
    return try store.write { () throws(VaultError) in
      let records = Records(store)
      let provider = try provider(client.type)
      var taken: [Deauthorization] = []
      for id in try records.accounts(bearing: .userID(type: client.type, userID)) {
        guard let account = try records.account(id),
          let (credential, row) = try records.credential(id, client: client.clientID)
        else { continue }
        // One second is the grain of both: the message is taken for the later of two.
        let effect =
          credential.obtainedAt > issuedAt
          ? Taken(.superseded)
          : try lose(
            Held(account: account, credential: credential, row: row),
            reason: "the app was removed at \(provider.name)", evidence: evidence)
        taken.append(
          Deauthorization(
            account: id, clientID: client.clientID, issuedAt: issuedAt,
            effect: effect.effect.rawValue))
      }
      guard !taken.isEmpty else {
        throw VaultError(
          .notFound,
          "\(provider.name) user \(ProviderText.name(userID)) has no credential of client"
            + " \(ProviderText.name(client.clientID)) here", hint: "vault accounts")
      }
      return taken
    }
  }

  /// The client whose secret signed it, and what it says.
  private func signedBy(
    _ text: String
  ) throws(VaultError) -> (ClientReference, JSONValue) {
    var refusal = "a wrong signature"
    // A megabyte of text is no message of Facebook's, and is not hashed once for each client.
    guard text.utf8.count <= 65_536 else { throw .noDeauthorization("it is too long") }
    for client in try clients() where client.hasSecret {
      let provider = try provider(client.type)
      guard provider.id == "facebook" || provider.extends == "facebook" else { continue }
      guard let secret = try registeredClient(client.reference).secret else { continue }
      do throws(OAuthError) {
        return (
          client.reference,
          try FacebookProofs.payload(ofSignedRequest: text, secret.bytes)
        )
      } catch {
        // Another client's secret gives a wrong signature; any other refusal comes after a right one.
        if case .badAnswer(let why) = error, why != "a wrong signature" { refusal = why }
      }
    }
    throw .noDeauthorization(refusal)
  }
}

extension VaultError {
  fileprivate static func noDeauthorization(_ why: String) -> VaultError {
    VaultError(
      .denied, "the message is no deauthorization of a client of this vault: \(why)",
      hint: "vault clients")
  }
}
