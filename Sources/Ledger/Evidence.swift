/// What a provider said that led to an outcome, kept in the ledger in place of its answer.
///
/// Every member is nil where the provider gave none. It never holds text of the answer: that may
/// carry a token or a person's data.
public struct Evidence: Equatable, Sendable {
  /// The HTTP status.
  public var status: Int?
  /// The provider's error code as it stood in the answer, a number or a word.
  public var code: String?
  /// The provider's finer error code.
  public var subcode: String?
  /// The class of the error catalogue that the answer fell into.
  public var `class`: String?
  /// A hash of the answer's body in hexadecimal, so that a kept answer can be matched later.
  public var bodyHash: String?

  /// What is known of an answer; nil for what the provider did not give.
  public init(
    status: Int? = nil, code: String? = nil, subcode: String? = nil, class: String? = nil,
    bodyHash: String? = nil
  ) {
    self.status = status
    self.code = code
    self.subcode = subcode
    self.class = `class`
    self.bodyHash = bodyHash
  }
}
