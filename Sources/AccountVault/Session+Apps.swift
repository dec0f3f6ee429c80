public import Faults
public import Accounts
import Encoding
import Ledger
import Providers
import Sodium
import Store

/// An app and its key, which is shown once.
public struct NewApp: ~Copyable, Sendable {
  /// The app as the vault keeps it, with a hash of its key.
  public let app: App
  /// The key's text, which nobody can show again.
  public let key: Secret
}

extension Session {
  /// The apps, by id.
  public func apps() throws(VaultError) -> [App] {
    try store.read { () throws(VaultError) in try Records(store).apps() }
  }

  /// Adds an app and makes its key, which is shown once; the vault keeps a keyed hash alone.
  ///
  /// An app that `grant` recorded without a key gets one, and keeps its grants.
  ///
  /// - Throws: ``VaultError``: `exists` where it has a key already; `notFound` for an unknown client;
  ///   `usage` for a malformed id or two clients of one type.
  public func addApp(
    _ id: String, name: String, clients: [String] = [], signOnly: Bool = false,
    uids: [UInt32] = []
  ) throws(VaultError) -> NewApp {
    try Session.checkAppID(id)
    try Session.checkName(name, "name")
    let key = AppKey.random()
    let app = try store.write { () throws(VaultError) in
      let records = Records(store)
      let known = try records.app(id)
      guard known?.hasKey != true else {
        throw VaultError(
          .exists, "app \(id) is there already",
          hint: "vault show-app \(id)")
      }
      let app = App(
        id: id, name: name, clients: try checkedClients(clients), signOnly: signOnly, uids: uids,
        keyHash: key.hash(under: store.keyring.appKeys), createdAt: known?.createdAt ?? now,
        keyChangedAt: now)
      try records.put(app, day: today)
      try record(.appAdded, app: id)
      return app
    }
    return NewApp(app: app, key: Secret(key.text()))
  }

  private func checkedClients(_ texts: [String]) throws(VaultError) -> [ClientReference] {
    var clients: [ClientReference] = []
    for text in texts {
      guard let client = ClientReference(text) else {
        throw VaultError(
          .usage, "\(Session.shown(text)) is no client: TYPE:CLIENT_ID", hint: "vault clients")
      }
      guard try Records(store).client(client) != nil else {
        throw VaultError(
          .notFound, "no client \(Session.shown(text))",
          hint: "vault add-client --type \(ShellText.quoted(client.type))"
            + " --client-id \(ShellText.quoted(client.clientID))")
      }
      guard !clients.contains(where: { $0.type == client.type }) else {
        throw VaultError(.usage, "two clients of type \(client.type): an app has one of a type")
      }
      clients.append(client)
    }
    return clients
  }

  /// Gives an app a new key; the old one is worth nothing from now on. Its grants stay: it is the
  /// owner who says that it is the same program.
  public func newAppKey(_ id: String) throws(VaultError) -> Secret {
    let key = AppKey.random()
    try store.write { () throws(VaultError) in
      var app = try findApp(id)
      app.keyHash = key.hash(under: store.keyring.appKeys)
      app.keyChangedAt = now
      try Records(store).put(app, day: today)
      try record(.appKeyChanged, app: id)
    }
    return Secret(key.text())
  }

  /// Removes an app with every grant it holds, in one transaction. The ledger keeps its history.
  public func removeApp(_ id: String) throws(VaultError) {
    try store.write { () throws(VaultError) in
      let records = Records(store)
      let app = try findApp(id)
      var sets: [GrantSet] = []
      try records.forEachGrantSet { (set) throws(VaultError) in
        if set.app == id { sets.append(set) }
        return true
      }
      for set in sets { try records.remove(set) }
      for ask in try records.asks() where ask.app == id { try store.remove(.ask, ask.id) }
      try store.remove(.app, records.appKey(app.id))
      try record(.appRemoved, app: id)
    }
  }

  /// Whether a key is the one of an app. Costs the same time whether or not there is such an app.
  public func isKey(_ key: borrowing Secret, of id: String) throws(VaultError) -> Bool {
    let app = try store.read { () throws(VaultError) in
      App.isID(id) ? try Records(store).app(id) : nil
    }
    var parsed: AppKey
    do throws(KeyText.Fault) {
      parsed = try AppKey(parsing: key.bytes)
    } catch {
      parsed = AppKey.random()
    }
    // An unknown app is compared with something too, so that time does not tell it.
    let expected = app?.keyHash ?? Digest32(Random.bytes(32))
    var shown = parsed.hash(under: store.keyring.appKeys).bytes
    var known = expected.bytes
    // In constant time: otherwise an app could find a hash byte by byte.
    return SecretBytes(wiping: &shown).isEqual(to: SecretBytes(wiping: &known))
  }
}
