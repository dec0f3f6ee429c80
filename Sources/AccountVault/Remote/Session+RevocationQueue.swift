public import Accounts
import Encoding
public import Faults
import Ledger
import Providers
import Sodium
import Store
import Time

/// What becomes of a token at its provider, now that it is over here.
public struct RevocationNotice: Sendable, Equatable {
  /// The provider's name for people.
  public let provider: String
  /// The client that the token was issued to; empty where that is not known.
  public let clientID: String
  /// Nil where the provider will be told; else why it cannot be: the token lives on there until it
  /// ends.
  public let obstacle: String?

  /// Whether the provider is still to be told.
  public var isPending: Bool { obstacle == nil }
}

extension Session {
  /// The tokens that are over here and of which their providers were not told yet, the oldest first.
  public func pendingRevocations() throws(VaultError) -> [PendingRevocation] {
    try store.read { () throws(VaultError) in try Records(store).revocations() }
  }

  /// Puts a token that is over into the queue, in the open transaction: either the change here and
  /// the revocation are both kept, or neither.
  ///
  /// - Returns: Nil where there is nothing to take back: the token is dead already, or was never used
  ///   at the provider by this vault alone.
  func enqueueRevocation(
    of secret: borrowing CredentialSecret, _ credential: Credential, _ account: Account,
    userID: String?, _ cause: PendingRevocation.Cause
  ) throws(VaultError) -> RevocationNotice? {
    if case .rejected = credential.mark { return nil }
    if case .at(let end) = credential.expiry, end <= now, !credential.hasRefreshToken {
      return nil
    }
    let provider = try provider(account.type)
    if let obstacle = try obstacle(credential, account.type, provider) {
      return RevocationNotice(
        provider: provider.name, clientID: credential.clientID, obstacle: obstacle)
    }
    let pending = PendingRevocation(
      id: Random.key16(), type: account.type, clientID: credential.clientID, account: account.id,
      username: account.username, userID: userID, kind: credential.kind,
      tokenType: credential.tokenType, generation: credential.generation,
      accessEndsAt: credential.expiry.time, hasRefreshToken: credential.hasRefreshToken,
      cause: cause, createdAt: now)
    if try endsAnother(pending, provider) { return nil }
    let kept = RevocationSecret(credential: secret.copy())
    try Records(store).put(pending, secret: .replace(kept.packed()), day: today)
    return RevocationNotice(
      provider: provider.name, clientID: credential.clientID, obstacle: nil)
  }

  /// The same for a credential in whose place a person's new sign-in came, in the open transaction.
  ///
  /// Only a sign-in is surely a grant of its own: a response that was handed over may be a renewal of
  /// the same one, which would end with the old token. Some providers give the same token again.
  func enqueueReplaced(
    _ credential: Credential, _ row: Row, by new: borrowing CredentialSecret, of account: Account
  ) throws(VaultError) {
    let old = try Records(store).secret(of: row)
    guard !old.accessToken.isEqual(to: new.accessToken) else { return }
    switch old.refreshToken {
    case .some(let token):
      switch new.refreshToken {
      case .some(let other): if token.isEqual(to: other) { return }
      case .none: break
      }
    case .none: break
    }
    _ = try enqueueRevocation(
      of: old, credential, account, userID: account.userID, .replaced)
  }

  /// Why the provider cannot be told; nil where it can.
  private func obstacle(
    _ credential: Credential, _ type: String, _ provider: Provider
  ) throws(VaultError) -> String? {
    let reference = ClientReference(type: type, clientID: credential.clientID)
    let hasSecret = try Records(store).client(reference)?.0.hasSecret ?? false
    guard provider.address(.revoke, of: credential.clientID) != nil else {
      return "\(provider.name) takes no token back"
    }
    switch provider.revocation {
    case .none: return "\(provider.name) takes no token back"
    case .rfc7009: return credential.clientID.isEmpty ? Network.noClient : nil
    case .deleteToken: return hasSecret ? nil : Network.noSecret
    case .signedPost: return provider.protocol == .oauth1 && !hasSecret ? Network.noSecret : nil
    case .deletePermissions, .tokenParameter: return nil
    }
  }

  /// Whether taking this token back would end another credential that the vault still holds: some
  /// providers end all that a person allowed a client, whichever token they are shown.
  ///
  /// Of a token that came from a sign-in of somebody else, any other account's credential of the client
  /// counts, whatever the definition says: whose it is may not be known, and many servers end what they
  /// should not.
  func endsAnother(
    _ pending: PendingRevocation, _ provider: Provider
  ) throws(VaultError) -> Bool {
    if pending.cause == .wrongUser {
      var isHeld = false
      try Records(store).forEachAccount { (account) throws(VaultError) in
        isHeld =
          account.id != pending.account && account.type == pending.type
          && account.clients.contains { same($0, pending.clientID) }
        return !isHeld
      }
      return isHeld
    }
    guard provider.revocationReach == .grant else { return false }
    let records = Records(store)
    var accounts = [pending.account]
    if let userID = pending.userID {
      accounts += try records.accounts(bearing: .userID(type: pending.type, userID))
    }
    for id in accounts {
      guard let account = try records.account(id), account.type == pending.type,
        let (credential, _) = try records.credential(id, client: pending.clientID)
      else { continue }
      if case .rejected = credential.mark { continue }
      return true
    }
    return false
  }

  /// Keeps a client's secret for the revocations that need it, before the client is removed: their
  /// tokens would live on otherwise.
  func keepSecret(
    of client: Client, forRevocationsOf reference: ClientReference
  ) throws(VaultError) {
    guard client.hasSecret else { return }
    let records = Records(store)
    for pending in try records.revocations()
    where pending.type == reference.type && pending.clientID == reference.clientID {
      guard let (_, own) = try records.revocation(pending.id) else { continue }
      var secret = try records.revocationSecret(of: own)
      let opened = try registeredClient(reference)
      secret.clientSecret = opened.secret?.bytes.copy()
      try records.put(pending, secret: .replace(secret.packed()), day: today)
    }
  }

  /// Takes back a sign-in that came back as somebody else: its tokens are kept nowhere else.
  ///
  /// Only by RFC 7009, which ends one token; the other ways may take back the whole app. Not where
  /// another account of the type has a credential of the client: many servers end both (RFC 7009
  /// section 2.1), and an account that was signed in by mistake would lose its own.
  ///
  /// - Parameters:
  ///   - account: The account that the sign-in was for.
  ///   - userID: Whose tokens they are; nil where that is not known.
  /// - Returns: Nil where there is nothing to take back, or it must not be.
  @discardableResult
  package func discard(
    _ secret: borrowing CredentialSecret, _ credential: Credential, for account: Account,
    userID: String?
  ) throws(VaultError) -> RevocationNotice? {
    guard try provider(account.type).revocation == .rfc7009 else { return nil }
    return try store.write { () throws(VaultError) in
      try enqueueRevocation(of: secret, credential, account, userID: userID, .wrongUser)
    }
  }
}

extension Records {
  func revocation(_ id: Key16) throws(VaultError) -> (PendingRevocation, Row)? {
    guard let row = try store.row(.revocation, id) else { return nil }
    return (
      try decoded(row, .revocation) { (bytes) throws(EncodingError) in
        try PendingRevocation(bytes)
      }, row
    )
  }

  func revocations() throws(VaultError) -> [PendingRevocation] {
    var found: [PendingRevocation] = []
    try store.forEachRow(.revocation) { (row) throws(VaultError) in
      found.append(
        try decoded(row, .revocation) { (bytes) throws(EncodingError) in
          try PendingRevocation(bytes)
        })
      return true
    }
    return found.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  func revocationSecret(of row: Row) throws(VaultError) -> RevocationSecret {
    let plaintext = try store.secret(of: row, in: .revocation)
    do throws(SodiumError) {
      return try RevocationSecret(unpacking: plaintext)
    } catch {
      throw VaultError(
        .damaged, "row \(row.key.base32) of revocation: its secret cannot be read",
        hint: "vault verify", reason: .damagedRow)
    }
  }

  func put(
    _ pending: PendingRevocation, secret: consuming SecretChange, day: Int64
  ) throws(VaultError) {
    try store.put(.revocation, pending.id, overview: pending.bytes, secret: secret, day: day)
  }
}
