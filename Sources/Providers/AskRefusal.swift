/// Why an ask goes to nobody, in words for the one who made it, with the next command.
package struct AskRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    case appMissing
    case nothingAsked
    case unknownPermission(String, near: [String])
    case retired(String, String)
    /// Read and write permissions in one ask.
    case mixed
    case notOfGroup(String, Provider.Group, asked: AskRules.Group)
    /// Write or extended permissions before anything was read.
    case readFirst
    case audienceMissing
    case audienceUnknown(String)
    /// The provider's posts have no audience that an app could choose.
    case audienceNotTaken
    case extendedNotAlone([String])
    case extendedRefused(String)

    /// The reason's name for scripts and the ledger.
    package var name: String {
      switch self {
      case .appMissing: "app_missing"
      case .nothingAsked: "nothing_asked"
      case .unknownPermission: "unknown_permission"
      case .retired: "retired_permission"
      case .mixed: "read_and_write_mixed"
      case .notOfGroup: "not_of_group"
      case .readFirst: "read_first"
      case .audienceMissing: "audience_missing"
      case .audienceUnknown: "audience_unknown"
      case .audienceNotTaken: "audience_not_taken"
      case .extendedNotAlone: "extended_not_alone"
      case .extendedRefused: "extended_refused"
      }
    }
  }

  package let reason: Reason
  package let text: String
  /// The command that would do; empty where none would.
  package let nextCommand: String

  init(_ reason: Reason, _ rules: AskRules) {
    self.reason = reason
    text = Self.text(reason, rules)
    nextCommand = Self.command(reason, rules)
  }

  package var description: String { text }

  private static func text(_ reason: Reason, _ rules: AskRules) -> String {
    let type = rules.provider.id
    return switch reason {
    case .appMissing: "the app's id is empty"
    case .nothingAsked: "no permission is asked for"
    case .unknownPermission(let name, let near):
      "\(type) has no permission \"\(name)\""
        + (near.isEmpty ? "" : "; near it: \(near.joined(separator: ", "))")
    case .retired(_, let why): why
    case .mixed: "read and write permissions cannot be asked for together"
    case .notOfGroup(let name, let group, let asked):
      "\(name) is a \(group.rawValue) permission, and the group is \(asked.rawValue)"
    case .readFirst:
      "the app must be granted a basic permission before it may ask for this"
    case .audienceMissing: "a write permission needs an audience"
    case .audienceUnknown(let word):
      "\"\(word)\" is no audience: everyone, friends or only_me"
    case .audienceNotTaken: "\(type) takes no audience"
    case .extendedNotAlone(let names):
      "extended permissions are asked for alone: \(names.joined(separator: ", "))"
    case .extendedRefused(let name): "\(name) is an extended permission, which \(type) refuses"
    }
  }

  private static func command(_ reason: Reason, _ rules: AskRules) -> String {
    let asked = rules.permissions
    let audience = rules.audience
    return switch reason {
    case .appMissing: ""
    case .nothingAsked, .unknownPermission, .extendedRefused:
      "vault show-provider \(quoted(rules.provider.id))"
    case .retired(let name, _):
      asked == [name]
        ? "vault show-provider \(quoted(rules.provider.id))"
        : command(rules, asked.filter { $0 != name }, group: rules.group, audience: audience)
    case .mixed:
      command(rules, asked, group: .readwrite, audience: audience ?? defaultAudience(rules))
    case .notOfGroup(let name, let group, _):
      if Set(asked.compactMap { rules.provider.permission(named: $0)?.group }).count > 1 {
        command(rules, asked, group: .readwrite, audience: audience ?? defaultAudience(rules))
      } else {
        command(
          rules, asked.isEmpty ? [name] : asked, group: group == .write ? .write : .read,
          audience: group == .write ? audience ?? defaultAudience(rules) : nil)
      }
    case .readFirst:
      command(rules, [rules.provider.asks.addBasic].compactMap(\.self), group: nil, audience: nil)
    case .audienceMissing, .audienceUnknown:
      command(rules, asked, group: rules.group, audience: AskRules.Audience.onlyMe.rawValue)
    case .audienceNotTaken: command(rules, asked, group: rules.group, audience: nil)
    case .extendedNotAlone(let names):
      // A first ask is for something basic.
      command(
        rules, rules.needsBasic ? [rules.provider.asks.addBasic].compactMap(\.self) : names,
        group: nil, audience: nil)
    }
  }

  /// The narrowest audience, where the provider wants one.
  private static func defaultAudience(_ rules: AskRules) -> String? {
    rules.provider.asks.audience == .required ? AskRules.Audience.onlyMe.rawValue : nil
  }

  private static func command(
    _ rules: AskRules, _ permissions: [String], group: AskRules.Group?, audience: String?
  ) -> String {
    var words = ["vault", "request-access", "--app", rules.app, "--type", rules.provider.id]
    if let account = rules.account { words += ["--account", account] }
    if !permissions.isEmpty { words += ["--perms", permissions.joined(separator: ",")] }
    if let group { words += ["--group", group.rawValue] }
    if let audience { words += ["--audience", audience] }
    return words.map(quoted).joined(separator: " ")
  }

  /// `word` as one word of a shell's command line.
  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
          || (0x30...0x39).contains(byte) || Array("._:,@/-+=".utf8).contains(byte)
      }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}

/// Permission names that somebody may have meant.
enum NearNames {
  /// At most three, the nearest first: a few letters off, or one holding the other.
  static func of(_ name: String, in provider: Provider) -> [String] {
    guard name.utf8.count <= 100 else { return [] }
    let asked = name.lowercased()
    var found: [(distance: Int, name: String)] = []
    for known in provider.permissions.map(\.name) where !known.hasSuffix(".*") {
      let distance = distance(Array(asked.utf8), Array(known.lowercased().utf8))
      let holds = asked.utf8.count >= 4 && (known.contains(asked) || asked.contains(known))
      if distance <= max(2, known.utf8.count / 5) || holds { found.append((distance, known)) }
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  /// The number of letters put in, taken out or changed.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
        diagonal = above
      }
    }
    return row[right.count]
  }
}
