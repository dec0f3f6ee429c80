/// What a person may mean by the argument ACCOUNT.
///
/// One argument can fit several forms: `badger` is a username and could be the beginning of an id.
/// ``candidates(_:)`` gives every form that it fits; ``resolve(_:among:)`` decides.
public enum AccountReference: Hashable, Sendable {
  /// A whole id.
  case id(AccountID)
  /// The beginning of an id, 6 to 25 characters.
  case idPrefix(String)
  /// `type:username` or `type:user_id`.
  case typed(type: String, name: String)
  /// A username.
  case bare(String)

  /// The shortest beginning of an id that is taken as one.
  public static let shortestPrefix = 6

  /// The forms that a text fits, in this order: id, beginning of an id,
  /// type and name, username. Empty for an empty text only.
  public static func candidates(_ text: String) -> [AccountReference] {
    guard !text.isEmpty else { return [] }
    var candidates: [AccountReference] = []
    if let id = AccountID(text) {
      candidates.append(.id(id))
    } else if isIDPrefix(text) {
      candidates.append(.idPrefix(text))
    }
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty {
      candidates.append(
        .typed(
          type: String(decoding: parts[0], as: UTF8.self),
          name: String(decoding: parts[1], as: UTF8.self)))
    }
    candidates.append(.bare(text))
    return candidates
  }

  /// Whether the account is one that this form may mean.
  ///
  /// Only the present username counts: a former one may belong to somebody else by now.
  public func fits(_ account: Account) -> Bool {
    switch self {
    case .id(let id): id == account.id
    case .idPrefix(let prefix): account.id.text.utf8.starts(with: prefix.utf8)
    case .typed(let type, let name):
      same(type, account.type)
        && (same(name, account.username) || account.userID.map { same(name, $0) } ?? false)
    case .bare(let name): same(name, account.username)
    }
  }

  /// Finds the accounts that a text means: none, the one, or all that fit where several do.
  ///
  /// A whole id always means its account. Otherwise every account that fits any form counts, so
  /// that nobody can put himself in another account's place by choosing a username that looks like
  /// the beginning of its id, or like its user id.
  public static func resolve(_ text: String, among accounts: [Account]) -> [Account] {
    let candidates = candidates(text)
    if case .id = candidates.first, let account = accounts.first(where: candidates[0].fits) {
      return [account]
    }
    return accounts.filter { account in candidates.contains { $0.fits(account) } }
  }

  private static func isIDPrefix(_ text: String) -> Bool {
    (shortestPrefix..<26).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains($0)
      }
  }
}
