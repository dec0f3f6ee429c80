package import Time

/// What one refusal means, with the evidence for it. It holds no secret.
package struct Classification: Sendable, Equatable {
  /// What decided.
  package enum Rule: Sendable, Equatable {
    /// A row of the provider's definition, by its place in `errors`.
    case row(Int)
    /// An error that the OAuth specifications name.
    case standard
    /// A `WWW-Authenticate` challenge.
    case challenge
    /// The provider's own mark for a passing fault.
    case transientFlag
    /// Nothing but the status: a guess, on which nothing is rejected that can still be tried.
    case status
    /// There was no reply.
    case noReply
  }

  package var errorClass: ErrorClass
  package var status: Int?
  /// The provider's code and subcode, escaped and capped.
  package var code: String?
  package var subcode: String?
  /// When the provider itself said that a next try makes sense.
  package var retryAfter: Timestamp?
  /// For the person: the provider's own words, escaped and capped.
  package var title: String?
  package var message: String?
  /// For the person: what the definition says to do.
  package var advice: String?
  package var rule: Rule
  /// Whether a machine may try again by itself.
  package var mayRetry = true
  /// Whether polling must go on more slowly.
  package var slower = false

  package init(_ errorClass: ErrorClass, status: Int?, rule: Rule) {
    self.errorClass = errorClass
    self.status = status
    self.rule = rule
  }

  /// No reply came: the network, a time limit, a closed connection.
  package static let noReply = Classification(.transient, status: nil, rule: .noReply)
}
