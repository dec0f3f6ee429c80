package import Encoding
package import Time

/// What the renewal engine knows of one credential: when to look next, what it tried, and whether a
/// try is under way. It holds no secret.
///
/// There is one for each credential, under the same key.
package struct RenewalRecord: Equatable, Sendable {
  /// A renewal that was written down before it was sent, and whose answer is not written yet.
  package struct Intent: Equatable, Sendable {
    /// 1, or more where an earlier try of this generation was cut off.
    package var attempt: Int64
    /// A keyed hash of what was sent: the refresh token, or the token that is exchanged.
    package var tokenHash: Digest32
    package var startedAt: Timestamp
    /// The run of the machine, and its clock since then in nanoseconds (`CLOCK_BOOTTIME`).
    package var bootID: String
    package var sinceBoot: Int64

    package init(
      attempt: Int64, tokenHash: Digest32, startedAt: Timestamp,
      bootID: String, sinceBoot: Int64
    ) {
      self.attempt = attempt
      self.tokenHash = tokenHash
      self.startedAt = startedAt
      self.bootID = bootID
      self.sinceBoot = sinceBoot
    }
  }

  package let account: AccountID
  package let clientID: String
  /// Of the credential that all of this is about; where the row has another, nothing of it holds.
  package let generation: Int64
  /// When the engine looks at it next; nil where nothing will come by itself.
  package var lookAt: Timestamp?
  /// When something was sent last.
  package var triedAt: Timestamp?
  /// Tries in a row that came to nothing.
  package var attempts: Int64 = 0
  /// When the first of them was.
  package var failingSince: Timestamp?
  /// Before this the engine and apps do not try again.
  package var waitsUntil: Timestamp?
  /// The same, where the provider itself named the time: it binds the owner too.
  package var providerTime: Timestamp?
  /// The class of the last failure in the error catalogue, and its reason.
  package var errorClass: String?
  package var reason: String?
  /// The provider said that the token has ended, whatever its date says: nothing is handed out before
  /// a renewal.
  package var renewFirst = false
  /// A try of this generation ended without an answer: the provider may have put another token in its
  /// place.
  package var mayBeSpent = false
  package var intent: Intent?
  /// The end that a person was told of ahead of time.
  package var announced: Timestamp?
  /// The end that nothing could put off is in the ledger.
  package var hasEnded = false

  package init(account: AccountID, clientID: String, generation: Int64) {
    self.account = account
    self.clientID = clientID
    self.generation = generation
  }
}

extension RenewalRecord {
  static let version: UInt8 = 1

  /// The record: version (1), account (16 bytes), client id, generation (i64), look at, tried at
  /// (optional each), attempts (i64), failing since, waits until, provider's time (optional each), class, reason
  /// (optional each), renew first, may be spent (flags), intent (flag; attempt (i64), hash (32 bytes), started (i64), boot id, since boot (i64)), announced (optional), has ended (flag).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(RenewalRecord.version)
    writer.key(account.key)
    writer.field(clientID)
    writer.i64(generation)
    writer.optional(lookAt)
    writer.optional(triedAt)
    writer.i64(attempts)
    writer.optional(failingSince)
    writer.optional(waitsUntil)
    writer.optional(providerTime)
    writer.optional(errorClass)
    writer.optional(reason)
    writer.flag(renewFirst)
    writer.flag(mayBeSpent)
    writer.flag(intent != nil)
    if let intent {
      writer.i64(intent.attempt)
      writer.digest(intent.tokenHash)
      writer.time(intent.startedAt)
      writer.field(intent.bootID)
      writer.i64(intent.sinceBoot)
    }
    writer.optional(announced)
    writer.flag(hasEnded)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(RenewalRecord.version)
    account = AccountID(try reader.key())
    clientID = try reader.text()
    generation = try reader.i64()
    lookAt = try reader.optionalTime()
    triedAt = try reader.optionalTime()
    attempts = try reader.i64()
    guard attempts >= 0 else { throw .notCanonical("attempts") }
    failingSince = try reader.optionalTime()
    waitsUntil = try reader.optionalTime()
    providerTime = try reader.optionalTime()
    errorClass = try reader.optionalText()
    reason = try reader.optionalText()
    renewFirst = try reader.flag()
    mayBeSpent = try reader.flag()
    if try reader.flag() {
      intent = Intent(
        attempt: try reader.i64(), tokenHash: try reader.digest(),
        startedAt: try reader.time(), bootID: try reader.text(), sinceBoot: try reader.i64())
    }
    announced = try reader.optionalTime()
    hasEnded = try reader.flag()
    try reader.end()
  }
}
