/// What an app may ask of a person, and in what order, by the provider's rules.
///
/// Pure: it reads nothing and decides nothing for the person. The owner's own grant is no ask and knows
/// none of these rules.
package struct AskRules: Sendable {
  package enum Group: String, Sendable, CaseIterable { case read, write, readwrite }

  /// Who sees what the app writes.
  package enum Audience: String, Sendable, CaseIterable {
    case everyone, friends
    case onlyMe = "only_me"

    /// `public` is another word for everyone.
    package init?(word: String) {
      if word == "public" {
        self = .everyone
      } else {
        self.init(rawValue: word)
      }
    }
  }

  /// One question to the person.
  package struct Ask: Sendable, Equatable {
    package let permissions: [String]
    package let group: Provider.Group
    package let audience: Audience?
    /// The basic permission that was put in because the first ask needs one.
    package let added: String?
  }

  package enum Ruling: Sendable, Equatable {
    /// In this order, each after the one before was answered.
    case asks([Ask])
    case refused(AskRefusal)
  }

  package let provider: Provider
  package let app: String
  /// As the caller named it; only for the command in a refusal.
  package let account: String?
  package let permissions: [String]
  package let group: Group?
  package let audience: String?
  /// What the app is granted on the account now.
  package let held: [String]

  package init(
    provider: Provider, app: String, account: String? = nil, permissions: [String],
    group: Group? = nil, audience: String? = nil, held: [String] = []
  ) {
    self.provider = provider
    self.app = app
    self.account = account
    var seen: Set<String> = []
    self.permissions = permissions.filter { seen.insert($0).inserted }
    self.group = group
    self.audience = audience
    self.held = held
  }

  package func rule() -> Ruling {
    do {
      return .asks(try asks())
    } catch {
      return .refused(error)
    }
  }

  private func asks() throws(AskRefusal) -> [Ask] {
    guard !app.isEmpty else { throw AskRefusal(.appMissing, self) }
    let audience = try checkedAudience()
    let wanted = try wantedPermissions()
    let extended = wanted.filter { $0.group == .extended }
    if !extended.isEmpty {
      return [try extendedAsk(extended, others: wanted.count - extended.count)]
    }
    let read = wanted.filter { $0.group == .read }
    let write = wanted.filter { $0.group == .write }
    guard provider.asks.separate else {
      try require(audience, for: write)
      let (names, added) = withBasic(wanted, isFirstAsk: isFirst)
      let group: Provider.Group = write.isEmpty ? .read : .write
      return [
        Ask(
          permissions: names, group: group, audience: write.isEmpty ? nil : audience, added: added)
      ]
    }
    switch group {
    case nil where !read.isEmpty && !write.isEmpty:
      throw AskRefusal(.mixed, self)
    case .read where !write.isEmpty:
      throw AskRefusal(.notOfGroup(write[0].name, .write, asked: .read), self)
    case .write where !read.isEmpty:
      throw AskRefusal(.notOfGroup(read[0].name, .read, asked: .write), self)
    case .readwrite, .read, .write, nil: break
    }
    var asks: [Ask] = []
    if !read.isEmpty || (group == .readwrite && isFirst && addsBasic) {
      let (names, added) = withBasic(read, isFirstAsk: isFirst)
      asks.append(Ask(permissions: names, group: .read, audience: nil, added: added))
    }
    if !write.isEmpty {
      if asks.isEmpty, isFirst, addsBasic { throw AskRefusal(.readFirst, self) }
      try require(audience, for: write)
      asks.append(
        Ask(permissions: write.map(\.name), group: .write, audience: audience, added: nil))
    }
    return asks
  }

  private func checkedAudience() throws(AskRefusal) -> Audience? {
    guard let audience else { return nil }
    guard provider.asks.audience != .refused else { throw AskRefusal(.audienceNotTaken, self) }
    guard let known = Audience(word: audience) else {
      throw AskRefusal(.audienceUnknown(ProviderText.safe(audience, limit: 40)), self)
    }
    return known
  }

  private func wantedPermissions() throws(AskRefusal) -> [Provider.Permission] {
    if permissions.isEmpty {
      guard group != .write, addsBasic, let name = provider.asks.addBasic,
        let basic = provider.permission(named: name)
      else { throw AskRefusal(.nothingAsked, self) }
      return [basic]
    }
    var wanted: [Provider.Permission] = []
    for name in permissions {
      if let reason = provider.retirement(of: name) {
        throw AskRefusal(.retired(name, reason), self)
      }
      guard let permission = provider.permission(named: name) else {
        throw AskRefusal(
          .unknownPermission(
            ProviderText.name(name, limit: 80), near: NearNames.of(name, in: provider)), self)
      }
      wanted.append(permission)
    }
    return wanted
  }

  private func extendedAsk(
    _ extended: [Provider.Permission], others: Int
  ) throws(AskRefusal) -> Ask {
    guard provider.extendedRule == .ask else {
      throw AskRefusal(.extendedRefused(extended[0].name), self)
    }
    guard others == 0 else {
      throw AskRefusal(.extendedNotAlone(extended.map(\.name)), self)
    }
    if isFirst, addsBasic { throw AskRefusal(.readFirst, self) }
    return Ask(permissions: extended.map(\.name), group: .extended, audience: nil, added: nil)
  }

  private func require(
    _ audience: Audience?, for write: [Provider.Permission]
  ) throws(AskRefusal) {
    if !write.isEmpty, audience == nil, provider.asks.audience == .required {
      throw AskRefusal(.audienceMissing, self)
    }
  }

  /// Whether the provider wants a basic permission in the first ask, and has one.
  private var addsBasic: Bool {
    provider.asks.basicFirst && provider.permissions.contains(where: \.isBasic)
  }

  /// Whether the app holds nothing yet that it was given by an ask for reading.
  private var isFirst: Bool {
    !held.contains { name in
      guard let permission = provider.permission(named: name) else { return false }
      return permission.isBasic || permission.group != .write
    }
  }

  /// Whether the app must ask for something basic before all else.
  var needsBasic: Bool { isFirst && addsBasic }

  private func withBasic(
    _ wanted: [Provider.Permission], isFirstAsk: Bool
  ) -> (names: [String], added: String?) {
    let names = wanted.map(\.name)
    guard isFirstAsk, addsBasic, !wanted.contains(where: \.isBasic),
      let basic = provider.asks.addBasic
    else { return (names, nil) }
    return ([basic] + names, basic)
  }
}
