/// Why a provider definition is refused: the member, what is wrong with it, what would be accepted.
public struct DefinitionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The member's path, such as `endpoints.token` or `errors[3].class`; empty for the whole text.
  public let member: String
  /// What is wrong with it.
  public let problem: String
  /// Empty where nothing can be said.
  public let accepted: String

  package init(_ member: String, _ problem: String, accepted: String = "") {
    self.member = member
    self.problem = problem
    self.accepted = accepted
  }

  public var description: String {
    let subject = member.isEmpty ? "the definition" : member
    return accepted.isEmpty
      ? "\(subject): \(problem)" : "\(subject): \(problem); accepted: \(accepted)"
  }
}
