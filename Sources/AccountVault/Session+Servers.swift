import Faults
import Providers

extension Session {
  /// A provider with the value that its type's name holds; see ``Provider/with(value:)``.
  func with(_ value: String?, _ provider: Provider) throws(VaultError) -> Provider {
    guard let value else { return provider }
    do throws(DefinitionError) {
      return try provider.with(value: value)
    } catch {
      throw VaultError(.usage, error.description, hint: "vault show-provider \(provider.id)")
    }
  }

  /// The provider of something new, which must be complete: a token or a client belongs to one server.
  ///
  /// - Parameter command: The command that would do, with the type's name in the place of `TYPE`.
  func completeProvider(_ type: String, command: String) throws(VaultError) -> Provider {
    let provider = try provider(type)
    guard let open = provider.openVariable else { return provider }
    throw VaultError(
      .usage, "\(provider.name) needs the \(open) that the account is on",
      hint: command.replacing("TYPE", with: "\(provider.id)@\(open.uppercased())"))
  }

  /// The account with its server in its type, where the provider has many: `lestat@social.example` of
  /// type `mastodon` is `lestat` of type `mastodon@social.example`.
  ///
  /// User ids are only good on their server, and so are clients; a type of its own keeps them apart.
  func located(_ new: NewAccount) throws(VaultError) -> NewAccount {
    var new = new
    let known = try provider(new.type)
    guard known.openVariable != nil || new.type.contains("@") else { return new }
    let server = Provider.parts(of: new.type).value
    var handle = (new.username ?? "")[...]
    if handle.hasPrefix("@") { handle = handle.dropFirst() }
    if let mark = handle.lastIndex(of: "@") {
      let named = handle[handle.index(after: mark)...].lowercased()
      guard server == nil || server == named else {
        throw VaultError(
          .usage, "\(Session.shown(String(handle))) is not on \(server ?? "")",
          hint: "vault add-account --type \(Provider.parts(of: new.type).id)@\(named)"
            + " --username \(ShellText.quoted(String(handle[..<mark])))")
      }
      new.username = String(handle[..<mark])
      if server == nil { new.type += "@\(named)" }
    } else if new.username != nil {
      new.username = String(handle)
    }
    _ = try completeProvider(
      new.type,
      command: "vault add-account --type TYPE --username "
        + (new.username.map { ShellText.quoted($0) } ?? "NAME"))
    return new
  }
}
