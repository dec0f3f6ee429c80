public import Faults
public import Accounts
import Encoding
import Ledger
import Providers
import Sodium
import Store

extension Session {
  /// The registrations at providers, by type and age; never a secret.
  public func clients() throws(VaultError) -> [Client] {
    try store.read { () throws(VaultError) in try Records(store).clients() }
  }

  /// Adds a registration at a provider. The first of a type is its default.
  ///
  /// - Throws: ``VaultError``: `exists`; `notFound` for an unknown type; `usage`.
  public func addClient(
    type: String, clientID: String, secret: consuming Secret? = nil, name: String? = nil,
    redirect: String? = nil
  ) throws(VaultError) -> Client {
    _ = try completeProvider(
      type, command: "vault add-client --type TYPE --client-id \(ProviderText.name(clientID))")
    try Session.checkName(clientID, "client id")
    if let name { try Session.checkName(name, "name") }
    var change = Optional(SecretChange.remove)
    var hasSecret = false
    if let secret = consume secret {
      guard secret.count > 0 else { throw VaultError(.usage, "the client secret is empty") }
      hasSecret = true
      // Padded, so that its length does not name the provider.
      var bytes = secret.bytes
      bytes.pad(block: 256)
      change = .replace(bytes)
    }
    return try store.write { () throws(VaultError) in
      let records = Records(store)
      let reference = ClientReference(type: type, clientID: clientID)
      guard try records.client(reference) == nil else {
        throw VaultError(
          .exists, "client \(ProviderText.name(reference.description)) is there already",
          hint: "vault remove-client \(ShellText.quoted(reference.description))")
      }
      let client = Client(
        type: type, clientID: clientID, name: name, redirect: redirect, createdAt: now,
        isDefault: try records.clients(of: type).isEmpty, hasSecret: hasSecret)
      try records.put(client, secret: change.take() ?? .remove, day: today)
      try record(.clientAdded, details: [Entry.Detail("client", reference.description)])
      return client
    }
  }

  /// Removes a registration. Another of its type becomes the default where it was. Tokens of it that are
  /// still to be revoked keep its secret until they are.
  ///
  /// - Throws: ``VaultError``: `notFound`; `usage` while an app names it.
  public func removeClient(_ text: String) throws(VaultError) {
    guard let reference = ClientReference(text) else {
      throw VaultError(
        .usage, "\(Session.shown(text)) is no client: TYPE:CLIENT_ID", hint: "vault clients")
    }
    try store.write { () throws(VaultError) in
      let records = Records(store)
      guard let (client, _) = try records.client(reference) else {
        throw VaultError(.notFound, "no client \(Session.shown(text))", hint: "vault clients")
      }
      for app in try records.apps() where app.clients.contains(reference) {
        throw VaultError(
          .usage, "client \(ProviderText.name(reference.description)) belongs to app \(app.id)",
          hint: "vault remove-app \(app.id)")
      }
      try keepSecret(of: client, forRevocationsOf: reference)
      try store.remove(.client, records.clientKey(reference))
      if client.isDefault, var next = try records.clients(of: client.type).first {
        next.isDefault = true
        try records.put(next, secret: .keep, day: today)
      }
      try record(.clientRemoved, details: [Entry.Detail("client", reference.description)])
    }
  }
}
