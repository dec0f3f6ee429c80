/// What a provider's answer says about scopes, held against what was asked or held before.
///
/// RFC 6749 leaves out `scope` where nothing changes (section 5.1: as asked; section 6: as before).
/// A value that is there wins even if it is empty: that is a no to everything, not a silence.
public struct ScopeAnswer: Equatable, Sendable {
  /// What the credential may do now; nil where neither the answer nor what was before says.
  public let scopes: [String]?
  /// Asked for, or held before, and not in the answer: declined at a sign-in, narrowed at a
  /// renewal. Each is an event of the ledger.
  public let missing: [String]
  /// In the answer and neither asked for nor held before. The credential grows beyond what the
  /// person saw; it never does so without an event.
  public let added: [String]

  /// - Parameters:
  ///   - answered: the scopes of the answer; nil where it has no such member.
  ///   - before: what was asked for at a sign-in, or what the credential had before a renewal.
  public init(answered: [String]?, before: [String]?) {
    scopes = answered ?? before
    guard let answered, let before else {
      missing = []
      added = []
      return
    }
    missing = before.filter { name in !answered.contains { same($0, name) } }
    added = answered.filter { name in !before.contains { same($0, name) } }
  }
}
