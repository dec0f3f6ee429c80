import Faults
import Accounts
import Encoding
import Ledger
import Sodium
import Store

/// The nouns as rows of the store: which key each lies under, and its bytes.
struct Records {
  let store: Store

  init(_ store: Store) { self.store = store }

  func decoded<R>(_ row: Row, _ table: TableID, _ decode: ([UInt8]) throws(EncodingError) -> R)
    throws(VaultError) -> R
  {
    do throws(EncodingError) {
      return try decode(row.overview)
    } catch {
      throw VaultError(
        .damaged, "row \(row.key.base32) of \(table.name): written by a newer version or damaged",
        hint: "vault verify", reason: .damagedRow)
    }
  }

  // MARK: Accounts

  func account(_ id: AccountID) throws(VaultError) -> Account? {
    guard let row = try store.row(.account, id.key) else { return nil }
    return try decoded(row, .account) { (bytes) throws(EncodingError) in try Account(bytes) }
  }

  func forEachAccount(
    from first: Key16? = nil, _ body: (Account) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try store.forEachRow(.account, from: first) { (row) throws(VaultError) in
      try body(
        try decoded(row, .account) { (bytes) throws(EncodingError) in try Account(bytes) })
    }
  }

  func put(_ account: Account, day: Int64) throws(VaultError) {
    try store.put(.account, account.id.key, overview: account.bytes, day: day)
  }

  // MARK: Labels

  /// The ways to find accounts by what a person types.
  enum Label {
    case username(type: String, String)
    case userID(type: String, String)
    case name(String)
  }

  func key(_ label: Label) -> Key16 {
    switch label {
    case .username(let type, let name):
      store.blindKey("label/username", .text(type), .text(name))
    case .userID(let type, let id):
      store.blindKey("label/user-id", .text(type), .text(id))
    case .name(let name): store.blindKey("label/name", .text(name))
    }
  }

  func labels(of account: Account) -> [Label] {
    var labels: [Label] = [
      .username(type: account.type, account.username), .name(account.username),
    ]
    if let id = account.userID { labels.append(.userID(type: account.type, id)) }
    return labels
  }

  /// The accounts that bear a label, in the order in which they got it.
  func accounts(bearing label: Label) throws(VaultError) -> [AccountID] {
    guard let row = try store.row(.label, key(label)) else { return [] }
    return try decoded(row, .label) { (bytes) throws(EncodingError) in
      var from = Reader(bytes)
      guard try from.u8() == 1 else { throw .notCanonical("version") }
      var ids: [AccountID] = []
      for _ in 0..<(try from.u32()) { ids.append(AccountID(Key16(try from.raw(16)))) }
      try from.end()
      return ids
    }
  }

  func add(_ id: AccountID, to label: Label, day: Int64) throws(VaultError) {
    var ids = try accounts(bearing: label)
    if ids.contains(id) { return }
    ids.append(id)
    try write(ids, of: label, day: day)
  }

  func remove(_ id: AccountID, from label: Label, day: Int64) throws(VaultError) {
    let ids = try accounts(bearing: label)
    try write(ids.filter { $0 != id }, of: label, day: day)
  }

  private func write(_ ids: [AccountID], of label: Label, day: Int64) throws(VaultError) {
    if ids.isEmpty { return try store.remove(.label, key(label)) }
    var out = Writer()
    out.u8(1)
    out.u32(UInt32(ids.count))
    for id in ids { out.raw(id.key.bytes) }
    try store.put(.label, key(label), overview: out.bytes, day: day)
  }

  // MARK: Credentials

  func credentialKey(_ account: AccountID, client: String) -> Key16 {
    store.blindKey("credential", .key(account.key), .text(client))
  }

  func credential(_ account: AccountID, client: String) throws(VaultError) -> (Credential, Row)? {
    guard let row = try store.row(.credential, credentialKey(account, client: client)) else {
      return nil
    }
    let credential = try decoded(row, .credential) { (bytes) throws(EncodingError) in
      try Credential(bytes)
    }
    return (credential, row)
  }

  func put(
    _ credential: Credential, of account: AccountID, secret: consuming SecretChange, due: Int64,
    day: Int64
  ) throws(VaultError) {
    try store.put(
      .credential, credentialKey(account, client: credential.clientID),
      overview: credential.bytes, secret: secret, due: due, day: day)
    try keepRenewal(of: credential, account, due: due, day: day)
  }

  func secret(of row: Row) throws(VaultError) -> CredentialSecret {
    let plaintext = try store.secret(of: row, in: .credential)
    do throws(SodiumError) {
      return try CredentialSecret(unpacking: plaintext)
    } catch {
      throw VaultError(
        .damaged, "row \(row.key.base32) of credential: its secret cannot be read",
        hint: "vault verify", reason: .damagedRow)
    }
  }

  // MARK: Clients

  func clientKey(_ client: ClientReference) -> Key16 {
    store.blindKey("client", .text(client.type), .text(client.clientID))
  }

  func client(_ reference: ClientReference) throws(VaultError) -> (Client, Row)? {
    guard let row = try store.row(.client, clientKey(reference)) else { return nil }
    return (
      try decoded(row, .client) { (bytes) throws(EncodingError) in try Client(bytes) }, row
    )
  }

  func clients(of type: String? = nil) throws(VaultError) -> [Client] {
    var clients: [Client] = []
    try store.forEachRow(.client) { (row) throws(VaultError) in
      let client = try decoded(row, .client) { (bytes) throws(EncodingError) in
        try Client(bytes)
      }
      if type == nil || client.type == type { clients.append(client) }
      return true
    }
    return clients.sorted {
      ($0.type, $0.createdAt, $0.clientID) < ($1.type, $1.createdAt, $1.clientID)
    }
  }

  func put(_ client: Client, secret: consuming SecretChange, day: Int64) throws(VaultError) {
    try store.put(
      .client, clientKey(client.reference), overview: client.bytes, secret: secret, day: day)
  }

  // MARK: Apps

  func appKey(_ id: String) -> Key16 { store.blindKey("app", .text(id)) }

  func app(_ id: String) throws(VaultError) -> App? {
    guard let row = try store.row(.app, appKey(id)) else { return nil }
    return try decoded(row, .app) { (bytes) throws(EncodingError) in try App(bytes) }
  }

  func apps() throws(VaultError) -> [App] {
    var apps: [App] = []
    try store.forEachRow(.app) { (row) throws(VaultError) in
      apps.append(try decoded(row, .app) { (bytes) throws(EncodingError) in try App(bytes) })
      return true
    }
    return apps.sorted { $0.id < $1.id }
  }

  func put(_ app: App, day: Int64) throws(VaultError) {
    try store.put(.app, appKey(app.id), overview: app.bytes, day: day)
  }

  // MARK: Standings

  func standingKey(app: String, account: AccountID) -> Key16 {
    store.blindKey("standing", .text(app), .key(account.key))
  }

  func grants(app: String, account: AccountID) throws(VaultError) -> GrantSet? {
    guard let row = try store.row(.standing, standingKey(app: app, account: account)) else {
      return nil
    }
    return try decoded(row, .standing) { (bytes) throws(EncodingError) in try GrantSet(bytes) }
  }

  func forEachGrantSet(_ body: (GrantSet) throws(VaultError) -> Bool) throws(VaultError) {
    try store.forEachRow(.standing) { (row) throws(VaultError) in
      try body(
        try decoded(row, .standing) { (bytes) throws(EncodingError) in try GrantSet(bytes) })
    }
  }

  func put(_ set: GrantSet, day: Int64) throws(VaultError) {
    try store.put(
      .standing, standingKey(app: set.app, account: set.account), overview: set.bytes, day: day)
  }

  func remove(_ set: GrantSet) throws(VaultError) {
    try store.remove(.standing, standingKey(app: set.app, account: set.account))
  }

  // MARK: Asks

  func asks() throws(VaultError) -> [Ask] {
    var asks: [Ask] = []
    try store.forEachRow(.ask) { (row) throws(VaultError) in
      asks.append(try decoded(row, .ask) { (bytes) throws(EncodingError) in try Ask(bytes) })
      return true
    }
    return asks.sorted { ($0.askedAt, $0.idText) < ($1.askedAt, $1.idText) }
  }

  func put(_ ask: Ask, day: Int64) throws(VaultError) {
    try store.put(.ask, ask.id, overview: ask.bytes, day: day)
  }

  // MARK: Definitions

  func definitionKey(_ id: String) -> Key16 { store.blindKey("definition", .text(id)) }

  /// The text of a user's own definition.
  func definition(_ id: String) throws(VaultError) -> String? {
    guard let row = try store.row(.definition, definitionKey(id)) else { return nil }
    return try text(of: row)
  }

  func definitions() throws(VaultError) -> [String] {
    var texts: [String] = []
    try store.forEachRow(.definition) { (row) throws(VaultError) in
      texts.append(try text(of: row))
      return true
    }
    return texts
  }

  private func text(of row: Row) throws(VaultError) -> String {
    try decoded(row, .definition) { (bytes) throws(EncodingError) in
      var from = Reader(bytes)
      guard try from.u8() == 1 else { throw .notCanonical("version") }
      let text = try from.text()
      try from.end()
      return text
    }
  }

  func put(definition text: String, id: String, day: Int64) throws(VaultError) {
    var out = Writer()
    out.u8(1)
    out.field(text)
    try store.put(.definition, definitionKey(id), overview: out.bytes, day: day)
  }
}
