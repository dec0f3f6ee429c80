import Store
import Ledger
import Accounts
public import Faults
public import Providers
import Sodium

extension Session {
  /// The definition of a provider: a built-in one, or one of the owner's own.
  ///
  /// - Throws: ``VaultError`` with code `notFound`.
  public func provider(_ type: String) throws(VaultError) -> Provider {
    if let known = providers.builtIn[type] { return known }
    let (id, value) = Provider.parts(of: type)
    if let builtIn = Provider.builtIn(id) {
      let found = try with(value, builtIn)
      providers.builtIn[type] = found
      return found
    }
    let text = try store.read { () throws(VaultError) in try Records(store).definition(id) }
    guard let text else { throw .noProvider(type) }
    // The owner may have replaced it from another process, to take a host out for instance.
    if let known = providers.own[type], known.text == text { return known.provider }
    let parsed: Provider
    do throws(DefinitionError) {
      parsed = try Provider.parse(text)
    } catch {
      throw VaultError(.config, "provider \(id): \(error)", hint: "vault show-provider \(id)")
    }
    let found = try with(value, parsed)
    providers.own[type] = (text, found)
    return found
  }

  /// The owner's own definitions.
  public func ownProviders() throws(VaultError) -> [Provider] {
    let texts = try store.read { () throws(VaultError) in try Records(store).definitions() }
    return texts.compactMap { try? Provider.parse($0) }.sorted { $0.id < $1.id }
  }

  /// Takes a definition of the owner's own into the vault, or puts it in the place of the older one.
  ///
  /// - Throws: ``VaultError``: `config` with the member that is wrong; `exists` for the id of a
  ///   built-in provider, which nobody may replace: its accounts would talk to other hosts.
  @discardableResult
  public func addProvider(_ text: String) throws(VaultError) -> Provider {
    let provider = try Session.parsed(text)
    guard Provider.builtIn(provider.id) == nil else {
      throw VaultError(
        .exists,
        "provider \(provider.id) is built in: give the definition another id, and"
          + " \"extends\": \"\(provider.id)\"", hint: "vault show-provider \(provider.id)")
    }
    try store.write { () throws(VaultError) in
      try Records(store).put(definition: text, id: provider.id, day: today)
      try record(.providerAdded, details: [Entry.Detail("provider", provider.id)])
    }
    return provider
  }

  /// Reads a definition without taking it in.
  public static func parsed(_ text: String) throws(VaultError) -> Provider {
    do throws(DefinitionError) {
      return try Provider.parse(text)
    } catch {
      throw VaultError(
        .config, "provider definition: \(error)", hint: "vault help check-provider")
    }
  }

  /// The permission of a type by name, or an error that names its neighbours.
  func permission(_ name: String, of provider: Provider) throws(VaultError) -> Permission {
    if let known = provider.permission(named: name) {
      return Permission(name, PermissionGroup(known.group))
    }
    throw VaultError(
      .usage, provider.refusal(of: name), hint: "vault show-provider \(provider.id)")
  }
}

/// Definitions that this session has read, so that each is parsed once.
final class ProviderCache {
  var builtIn: [String: Provider] = [:]
  var own: [String: (text: String, provider: Provider)] = [:]
}

extension Provider {
  /// Why a name is no permission of this provider, with names near to it.
  func refusal(of name: String) -> String {
    let ruling = AskRules(provider: self, app: "app", permissions: [name]).rule()
    if case .refused(let refusal) = ruling { return refusal.text }
    return "\(id) has no permission \"\(ProviderText.name(name, limit: 80))\""
  }
}

extension PermissionGroup {
  init(_ group: Provider.Group) {
    switch group {
    case .read: self = .read
    case .write: self = .write
    case .extended: self = .extended
    }
  }
}

extension VaultError {
  static func noProvider(_ type: String) -> VaultError {
    VaultError(.notFound, "no provider \(ProviderText.name(type))", hint: "vault providers")
  }
}
