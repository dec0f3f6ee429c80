/// One row of a provider's error catalogue: what a reply must hold, and the class it then has.
package struct ErrorRow: Sendable, Equatable {
  /// A set of codes. Numbers and their texts are equal, since providers send both.
  package enum Codes: Sendable, Equatable {
    /// The body carries no code at all.
    case absent
    case among(texts: Set<String>, ranges: [ClosedRange<Int64>])

    /// 0 where `code` does not belong to it; a name weighs more than a range.
    func weight(_ code: String?) -> Int {
      switch self {
      case .absent:
        return code == nil ? 1 : 0
      case .among(let texts, let ranges):
        guard let code else { return 0 }
        if texts.contains(code) { return 2 }
        guard let number = Int64(code) else { return 0 }
        return ranges.contains { $0.contains(number) } ? 1 : 0
      }
    }
  }

  package var statuses: Set<Int> = []
  package var codes: Codes?
  package var subcodes: Codes?
  package var type: String?
  /// The whole description, letter by letter: only where a provider gives nothing else.
  package var description: String?
  /// The fixed part of a description whose rest changes: the same, where even the whole is not fixed.
  package var descriptionPart: String?
  /// The `error` of a `WWW-Authenticate` challenge.
  package var challenge: String?
  /// A header that is there, in lower case.
  package var header: String?
  package var place: Endpoint?
  package var errorClass: ErrorClass
  /// Whether a machine may try again by itself.
  package var mayRetry = true
  /// Whether the provider's rate headers speak of this limit.
  package var usesResetHeaders = true
  /// Whether the one who polls must poll more slowly.
  package var slower = false
  /// What the person can do about it.
  package var advice: String?

  /// Whether something in the body decides.
  var readsBody: Bool {
    codes != nil || subcodes != nil || type != nil || description != nil || descriptionPart != nil
  }

  /// Whether only the status and the headers decide.
  var readsStatusOnly: Bool {
    !readsBody && challenge == nil && (!statuses.isEmpty || header != nil)
  }

  func hasConditions(of other: ErrorRow) -> Bool {
    statuses == other.statuses && codes == other.codes && subcodes == other.subcodes
      && type == other.type && description == other.description
      && descriptionPart == other.descriptionPart && challenge == other.challenge
      && header == other.header && place == other.place
  }
}
