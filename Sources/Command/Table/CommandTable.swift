/// All commands of this release.
package enum CommandTable {
  /// In the order of the help screen.
  package static let all: [CommandSpec] =
    accounts + providers + permissions + using + ledger + vault + program

  /// Those that a person is told of.
  static var shown: [CommandSpec] { all.filter { !$0.isHidden } }

  static func command(named name: String) -> CommandSpec? { all.first { $0.name == name } }

  /// Every option once, by name. The same name takes a value everywhere or nowhere; a test says so.
  static let options: [OptionSpec] = {
    var seen: Set<String> = []
    return (GlobalOptions.all + all.flatMap(\.options)).filter { seen.insert($0.name).inserted }
  }()
}

extension OptionSpec {
  static let app = OptionSpec.app(.required)
  static func app(_ presence: Presence) -> OptionSpec {
    .option("app", "APP", "the app's id", presence: presence)
  }
  static let account = OptionSpec.option(
    "account", "ACCOUNT", "the account, where several fit (vault help accounts)")
  static func perms(_ presence: Presence) -> OptionSpec {
    .option("perms", "P,…", "permission names, comma-separated; case counts", presence: presence)
  }
  static let audience = OptionSpec.option(
    "audience", "A", "who may see what is written: everyone, friends, only_me",
    kind: .choice(["everyone", "friends", "only_me"]))
  static let signIn = OptionSpec.option(
    "sign-in", maybe: "WAY", of: ["browser", "device", "pin"],
    "sign in at the provider: browser, device or pin")
  static let until = OptionSpec.option(
    "until", "TIME", "when it ends: 2027-01-31, 2027-01-31T12:00:00Z, or 30d from now")
  static let reason = OptionSpec.option("reason", "TEXT", "why, for the ledger")
}

extension CommandSpec.JSONShape {
  static let accountKeys = [
    "id", "type", "username", "user_id", "description", "created_at", "credentials",
  ]
  static let clientKeys = ["type", "client_id", "name", "default"]
  static let appKeys = [
    "id", "name", "clients", "sign_only", "uids", "has_key", "created_at", "key_changed_at",
  ]
}
