public import Faults
public import Accounts
import Encoding
import Store

extension Session {
  /// The account that a person means: its id, an unambiguous beginning of it (6 characters or more),
  /// `type:username`, `type:user_id`, or a username that only one account has.
  ///
  /// - Throws: ``VaultError``: `notFound`; `ambiguous`, with what fits.
  public func account(_ text: String) throws(VaultError) -> Account {
    try store.read { () throws(VaultError) in try find(text) }
  }

  func find(_ text: String) throws(VaultError) -> Account {
    let found = try fitting(text)
    if found.count == 1 { return found[0] }
    if found.isEmpty {
      throw VaultError(.notFound, "no account \(Session.shown(text))", hint: "vault accounts")
    }
    throw .ambiguousAccount(found, "\(Session.shown(text)) fits \(found.count) accounts")
  }

  private func fitting(_ text: String) throws(VaultError) -> [Account] {
    let records = Records(store)
    var ids: [AccountID] = []
    var prefixed: [Account] = []
    for candidate in AccountReference.candidates(text) {
      switch candidate {
      case .id(let id):
        if let account = try records.account(id) { return [account] }
      case .idPrefix(let prefix): prefixed = try accounts(beginning: prefix)
      case .typed(let type, let name):
        ids += try accounts(ofType: type, bearing: name)
      case .bare(let name): ids += try records.accounts(bearing: .name(name))
      }
    }
    var found = prefixed
    for id in ids where !found.contains(where: { $0.id == id }) {
      guard let account = try records.account(id) else {
        throw VaultError(
          .damaged, "a label names an account that is not there", hint: "vault verify",
          reason: .damagedRow)
      }
      found.append(account)
    }
    return found
  }

  /// The accounts of a type that have a username or a user id.
  func accounts(ofType type: String, bearing name: String) throws(VaultError) -> [AccountID] {
    let records = Records(store)
    var ids = try records.accounts(bearing: .username(type: type, name))
    ids += try records.accounts(bearing: .userID(type: type, name))
    // A handle with its server: the server is part of the type.
    if let mark = name.lastIndex(of: "@"), !type.contains("@") {
      let server = name[name.index(after: mark)...].lowercased()
      ids += try records.accounts(
        bearing: .username(type: "\(type)@\(server)", String(name[..<mark])))
    }
    return ids
  }

  /// The accounts whose id begins with `prefix`; a range of keys, not a walk over all.
  func accounts(beginning prefix: String) throws(VaultError) -> [Account] {
    // Filled up with the smallest digit, and cut to whole bytes, the prefix is where to begin.
    let padded = prefix + String(repeating: "a", count: 26 - prefix.utf8.count)
    guard let first = Key16(base32: padded) else { return [] }
    var found: [Account] = []
    try Records(store).forEachAccount(from: first) { (account) throws(VaultError) in
      guard account.id.text.utf8.starts(with: prefix.utf8) else { return false }
      found.append(account)
      return found.count < 20
    }
    return found
  }

  /// What a person typed, fit to be shown again.
  static func shown(_ text: String) -> String {
    "\"\(ProviderText.name(text, limit: 120))\""
  }

  /// A known app.
  ///
  /// - Throws: ``VaultError`` with code `notFound`.
  public func app(_ id: String) throws(VaultError) -> App {
    try store.read { () throws(VaultError) in try findApp(id) }
  }

  func findApp(_ id: String) throws(VaultError) -> App {
    try Session.checkAppID(id)
    try checkCaller()
    if let app = try knownApp(id) { return app }
    throw VaultError(.notFound, "no app \(id)", hint: "vault add-app \(id) --name NAME")
  }

  /// An app, or nil where there is none.
  func knownApp(_ id: String) throws(VaultError) -> App? {
    let revision = store.revision(of: .app)
    if let known = lookups.app(id, revision: revision) { return known }
    let app = try Records(store).app(id)
    if let app { lookups.note(app, revision: revision) }
    return app
  }

  static func checkAppID(_ id: String) throws(VaultError) {
    guard App.isID(id) else {
      throw VaultError(
        .usage, "\(shown(id)) is no app id: 1 to 128 letters, digits, \".\", \"_\" and \"-\"",
        hint: "vault apps")
    }
  }
}

import Providers

extension VaultError {
  static func ambiguousAccount(_ accounts: [Account], _ what: String, hint: String? = nil)
    -> VaultError
  {
    let shown = accounts.prefix(20).map { "\($0.id.text)  \(ProviderText.name($0.label))" }
    return VaultError(
      .ambiguous, what, hint: hint,
      candidates: shown)
  }
}
