public import Accounts
public import Ledger
public import Time

/// Who wants a renewal, and so what may stand against it.
public enum RenewalCause: Sendable {
  /// The engine: when its time has come, and not sooner than every wait allows.
  case due
  /// The owner named the credential: now, whatever is due and whatever waits, but for a time that the
  /// provider itself named. It is also the yes that a credential from a backup needs.
  case owner
  /// A provider answered that the token has ended, with what it said. The token is not handed out any
  /// more until a renewal succeeds.
  case expired(Evidence)
  /// An app needs the token, whatever its date says.
  case request
}

/// What came of a renewal.
public struct Renewal: Sendable {
  /// How it ended. The raw values are those of the contract.
  public enum Outcome: String, Sendable, CaseIterable {
    /// A new credential is stored: this call's, or that of another process which was faster.
    case renewed
    /// The provider will not: a person must act.
    case rejected
    /// Nothing is known or nothing was sent; the old credential stays, and a later try may work.
    case failed
    /// There was nothing to do.
    case notDue = "not_due"
  }

  /// Whose credential it is.
  public let account: Account
  /// The client that it was issued to; empty where it is not known.
  public let clientID: String
  /// How it ended.
  public let outcome: Outcome
  /// The class in the error catalogue, of this failure or of the last one where it was not tried.
  public let errorClass: String?
  /// Why, in a few words; nil where the outcome says it all.
  public let reason: String?
  /// The credential's generation now.
  public let generation: Int64
  /// When the credential ends now.
  public let expiry: Expiry
  /// When the engine looks at it next; nil where nothing comes by itself.
  public let nextAttemptAt: Timestamp?
  /// What the provider answered; nil where nothing was sent.
  public let evidence: Evidence?
  /// By when a person must sign in, once it is time to say so.
  public let needsPersonBy: Timestamp?
  /// Whether a request was sent.
  public let wasSent: Bool

  init(
    account: Account, clientID: String, outcome: Outcome, errorClass: String? = nil,
    reason: String? = nil, generation: Int64, expiry: Expiry, nextAttemptAt: Timestamp? = nil,
    evidence: Evidence? = nil, needsPersonBy: Timestamp? = nil, wasSent: Bool = false
  ) {
    self.account = account
    self.clientID = clientID
    self.outcome = outcome
    self.errorClass = errorClass
    self.reason = reason
    self.generation = generation
    self.expiry = expiry
    self.nextAttemptAt = nextAttemptAt
    self.evidence = evidence
    self.needsPersonBy = needsPersonBy
    self.wasSent = wasSent
  }
}
