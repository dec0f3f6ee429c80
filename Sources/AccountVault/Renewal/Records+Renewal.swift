import Accounts
import Encoding
import Faults
import Sodium
import Store
import Time

extension Records {
  // MARK: What the engine knows of a credential

  /// The record under a credential's key.
  func renewal(_ key: Key16) throws(VaultError) -> RenewalRecord? {
    guard let row = try store.row(.renewal, key) else { return nil }
    let record = try decoded(row, .renewal) { (bytes) throws(EncodingError) in
      try RenewalRecord(bytes)
    }
    guard row.due == Records.hour(record.lookAt) else {
      throw VaultError(
        .damaged, "row \(key.base32) of renewal: its time is not the one that is sealed in it",
        hint: "vault verify", reason: .damagedRow)
    }
    return record
  }

  func put(_ record: RenewalRecord, day: Int64) throws(VaultError) {
    try store.put(
      .renewal, credentialKey(record.account, client: record.clientID), overview: record.bytes,
      due: Records.hour(record.lookAt), day: day)
  }

  /// Writes the first record of a new generation, where the caller has none of its own.
  func keepRenewal(of credential: Credential, _ account: AccountID, due: Int64, day: Int64)
    throws(VaultError)
  {
    let key = credentialKey(account, client: credential.clientID)
    if let known = try renewal(key), known.generation == credential.generation { return }
    var record = RenewalRecord(
      account: account, clientID: credential.clientID, generation: credential.generation)
    if due > 0 { record.lookAt = Timestamp(seconds: due * 3600) }
    try put(record, day: day)
  }

  /// A time as the clear column has it: hours since 1970, so that it tells no more than it must; 0 for
  /// never.
  static func hour(_ time: Timestamp?) -> Int64 {
    time.map { min(max(1, $0.seconds / 3600), Int64(UInt32.max)) } ?? 0
  }

  /// Takes a credential out, with what the engine knows of it.
  func removeCredential(_ account: AccountID, client: String) throws(VaultError) {
    let key = credentialKey(account, client: client)
    try store.remove(.credential, key)
    try store.remove(.renewal, key)
  }

  // MARK: How a client's requests are spaced

  func paceKey(_ client: ClientReference) -> Key16 {
    store.blindKey("pace", .text(client.type), .text(client.clientID))
  }

  func pace(_ client: ClientReference) throws(VaultError) -> ClientPace {
    guard let row = try store.row(.pace, paceKey(client)) else {
      return ClientPace(type: client.type, clientID: client.clientID)
    }
    return try decoded(row, .pace) { (bytes) throws(EncodingError) in try ClientPace(bytes) }
  }

  func put(_ pace: ClientPace, day: Int64) throws(VaultError) {
    let key = paceKey(ClientReference(type: pace.type, clientID: pace.clientID))
    if pace.isClear { return try store.remove(.pace, key) }
    try store.put(.pace, key, overview: pace.bytes, day: day)
  }

  /// A name for what the row of a client says and seals: another secret gives another name.
  func fingerprint(of row: Row) -> Key16 {
    var hash = KeyedHash(key: store.keyring.blind, outputCount: 16)
    hash.update(row.overview)
    hash.update(row.sealedSecret)
    return hash.finish16()
  }
}

extension Store {
  /// A keyed hash of a token: tells whether two are the same, and nothing to whoever lacks the key.
  func tokenHash(_ token: borrowing SecretBytes) -> Digest32 {
    var hash = KeyedHash(key: keyring.blind, outputCount: 32)
    hash.update(Array("vault/token/1".utf8))
    token.withBytes { hash.update($0) }
    return hash.finish32()
  }
}
