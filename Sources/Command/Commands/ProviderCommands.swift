import AccountVault
import Faults
import JSON
import Providers

private func object(_ provider: Provider) -> JSONObject {
  var object = JSONObject()
  object.add("type", provider.id)
  object.add("name", provider.name)
  object.add("protocol", provider.protocolName)
  object.add("built_in", Provider.builtIn(provider.id) != nil)
  return object
}

private let rows = [
  Column("type", "type"), Column("name", "name"), Column("protocol", "protocol"),
  Column("built in", "built_in"),
]

/// `vault providers`: the built-in ones, and the owner's own where a vault can be unlocked.
enum ProvidersCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    var providers = Provider.builtInIdentifiers.compactMap { Provider.builtIn($0) }
    providers += try context.ownProviders()
    var listing = Listing(
      context.terminal,
      columns: [
        Column("TYPE", "type"), Column("NAME", "name"), Column("PROTOCOL", "protocol"),
        Column("BUILT IN", "built_in"),
      ])
    for provider in providers { try listing.add(object(provider)) }
    try listing.finish()
    return .ok
  }
}

extension Context {
  /// The owner's own definitions, where there is a vault and its secret is at hand without asking.
  func ownProviders() throws(CommandFailure) -> [Provider] {
    guard Vault.exists(at: try vaultPath()) else { return [] }
    guard let secret = try secrets.givenKey() else {
      terminal.note("the vault is locked: definitions of your own are not listed")
      return []
    }
    return try use(try openVault(), secret) { (session) throws(VaultError) in
      try session.ownProviders()
    }
  }
}

/// `vault show-provider`
enum ShowProviderCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let type = context.argument(0)
    let provider: Provider
    if let builtIn = try builtIn(type) {
      provider = builtIn
    } else if Vault.exists(at: try context.vaultPath()) {
      provider = try context.withSession { (session) throws(VaultError) in
        try session.provider(type)
      }
    } else {
      throw CommandFailure(.notFound, "no provider \(type)", hint: "vault providers")
    }
    try context.terminal.line(EscapedText.ofJSON(provider.definition))
    return .ok
  }

  private static func builtIn(_ type: String) throws(CommandFailure) -> Provider? {
    let (id, value) = Provider.parts(of: type)
    guard let provider = Provider.builtIn(id), let value else { return Provider.builtIn(id) }
    do throws(DefinitionError) {
      return try provider.with(value: value)
    } catch {
      throw CommandFailure(.usage, error.description, hint: "vault show-provider \(id)")
    }
  }
}

/// `vault add-provider`
enum AddProviderCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = try context.text(of: context.argument(0))
    let provider = try context.withSession { (session) throws(VaultError) in
      try session.addProvider(text)
    }
    try context.terminal.show(object(provider), rows: rows)
    return .ok
  }
}

/// `vault check-provider`
enum CheckProviderCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = try context.text(of: context.argument(0))
    let provider = try vaultCall { () throws(VaultError) in try Session.parsed(text) }
    try context.terminal.show(object(provider), rows: rows)
    return .ok
  }
}
