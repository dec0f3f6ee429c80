import AccountVault
import Foundation
import TestSupport
import Testing

/// Comparing with another program shows that `Documentation/Format.md` says enough, and that what it
/// says is so.
@Suite(.enabled(if: FormatReader.isThere, "python3 with sqlite3, and libsodium.so.23"))
struct `The format` {
  typealias Members = [String: Any]

  @Test func `is read by another program as the library wrote it`() throws {
    let written = try WrittenVault()
    _ = try written.create()
    try written.fill()
    let answer = try FormatReader.read(
      written.path, "--key-file", written.keyFile, "--head", try written.head, "--show-secrets")
    try #require(answer.status == 0, "\(answer.errors)")
    let vault = answer.vault
    let session = try written.open()
    #expect(vault["vault"] as? String == session.vaultID)
    #expect(vault["branch"] as? String == session.branchID)
    #expect(vault["key_epoch"] as? Int == 2)
    #expect(vault["root"] as? String == (try session.verify().root))
    #expect(vault["head"] as? UInt64 == vault["counter"] as? UInt64)
    let publicKey = try #require(Data(base64Encoded: vault["public_key"] as? String ?? ""))
    #expect(session.verifierKey.text.hasSuffix((Data([1]) + publicKey).base64EncodedString()))
    try compareAccounts(vault, session)
    try compareGrants(vault, session)
    try compareHistory(vault, session)
  }

  private func compareAccounts(_ vault: Members, _ session: borrowing Session) throws {
    var expected: [Account] = []
    try session.forEachAccount { (account) throws(VaultError) in
      expected.append(account)
      return true
    }
    let found = vault["accounts"] as? [Members] ?? []
    #expect(found.map { $0["id"] as? String } == expected.map(\.id.text))
    for (account, members) in zip(expected, found) {
      #expect(members["type"] as? String == account.type)
      #expect(members["username"] as? String == account.username)
      #expect(members["user_id"] as? String == account.userID)
      #expect(members["description"] as? String == account.description)
      #expect(members["created_at"] as? String == account.createdAt.description)
      let former = members["former_usernames"] as? [Members] ?? []
      #expect(former.map { $0["name"] as? String } == account.formerUsernames.map(\.name))
      let credentials = members["credentials"] as? [Members] ?? []
      let standing = try session.standing(of: account)
      #expect(credentials.count == standing.credentials.count)
      for (one, other) in zip(credentials, standing.credentials.map(\.credential)) {
        #expect(one["client_id"] as? String == other.clientID)
        #expect(one["kind"] as? String == other.kind.rawValue)
        #expect(one["generation"] as? Int64 == other.generation)
        #expect(one["lifetime"] as? Int64 == other.lifetime)
        #expect(one["scopes"] as? [String] == other.scopes)
        #expect(one["source"] as? String == other.source.rawValue)
        #expect(one["obtained_at"] as? String == other.obtainedAt.description)
        #expect(one["has_refresh_token"] as? Bool == other.hasRefreshToken)
        if case .at(let time) = other.expiry {
          #expect(one["expiry"] as? String == time.description)
        }
      }
    }
    let secrets = found.flatMap { $0["credentials"] as? [Members] ?? [] }
    #expect(secrets.contains { $0["access_token"] as? String == WrittenVault.token })
    #expect(secrets.contains { $0["refresh_token"] as? String == "rt" })
    #expect(secrets.contains { $0["token_secret"] as? String == "ts" })
    let clients = vault["clients"] as? [Members] ?? []
    let clientIDs = try session.clients().map(\.clientID).sorted()
    #expect(clients.compactMap { $0["client_id"] as? String }.sorted() == clientIDs)
    #expect(clients.contains { $0["secret"] as? String == "client secret" })
  }

  private func compareGrants(_ vault: Members, _ session: borrowing Session) throws {
    let grants = vault["grants"] as? [Members] ?? []
    let apps = try session.apps()
    #expect((vault["apps"] as? [Members] ?? []).count == apps.count)
    var count = 0
    for app in apps {
      for line in try session.access(app: app.id) {
        count += 1
        let standing = try #require(line.standing)
        let members = try #require(
          grants.first {
            $0["app"] as? String == app.id && $0["account"] as? String == line.account.id.text
              && $0["permission"] as? String == line.permission
          })
        #expect(members["decision"] as? String == standing.decision.rawValue)
        #expect(members["group"] as? String == standing.group.rawValue)
        #expect(members["audience"] as? String == standing.audience?.rawValue)
        #expect(members["entry"] as? UInt64 == standing.entry)
        #expect(members["lapse_entry"] as? UInt64 == standing.lapseEntry)
        #expect(members["until"] as? String == standing.until?.description)
        #expect(members["since"] as? String == standing.since.description)
        #expect(members["reason"] as? String == standing.reason)
      }
    }
    #expect(grants.count == count && count == 5)
    #expect(grants.contains { $0["lapse_entry"] as? UInt64 != nil })
    let asks = vault["asks"] as? [Members] ?? []
    #expect(asks.map { $0["app"] as? String } == ["asking"])
    let definitions = vault["definitions"] as? [Members] ?? []
    #expect(definitions.map { $0["id"] as? String } == ["own"])
  }

  private func compareHistory(_ vault: Members, _ session: borrowing Session) throws {
    var expected: [Entry] = []
    try session.history(HistoryQuery()) { expected.append($0) }
    let history = vault["history"] as? [Members] ?? []
    #expect(history.count == expected.count)
    for (members, entry) in zip(history, expected) {
      #expect(members["entry"] as? UInt64 == entry.number)
      #expect(members["time"] as? String == entry.time.description)
      #expect(members["event"] as? String == entry.event.rawValue)
      #expect(members["actor"] as? String == entry.actor)
      #expect(members["app"] as? String == entry.app)
      #expect(members["account"] as? String == entry.accountID)
      #expect(members["account_label"] as? String == entry.accountLabel)
      #expect(members["permissions"] as? [String] == entry.permissions)
      #expect(members["audience"] as? String == entry.audience)
      #expect(members["reason"] as? String == entry.reason)
      let details = members["details"] as? [[String]] ?? []
      #expect(details == entry.details.map { [$0.name, $0.value] })
    }
  }

  @Test func `opens by passphrase and by recovery code`() throws {
    let written = try WrittenVault()
    let code = try #require(try written.create(passphrase: "correct horse"))
    for secret in ["correct horse\n", code, code.uppercased().replacing("-", with: " ")] {
      let file = written.directory("secret")
      try Data(secret.utf8).write(to: URL(filePath: file))
      let answer = try FormatReader.read(written.path, "--passphrase-file", file)
      #expect(answer.status == 0, "\(answer.errors)")
      #expect((answer.vault["accounts"] as? [Members])?.count == 1)
    }
  }

  /// Every further level is another way to split leaves and to number nodes.
  @Test func `is the same with a tree of two levels`() throws {
    let written = try WrittenVault()
    _ = try written.create()
    do {
      let session = try written.open()
      for number in 0..<40 {
        _ = try session.addAccount(
          NewAccount(type: "facebook", username: "name\(number)", userID: String(number)),
          credential: .none)
      }
      for number in 0..<10 { _ = try session.remove(try session.account("facebook:name\(number)")) }
    }
    let answer = try FormatReader.read(
      written.path, "--key-file", written.keyFile, "--head", try written.head)
    #expect(answer.status == 0, "\(answer.errors)")
    let tables = answer.vault["tables"] as? [String: [String: Int]] ?? [:]
    #expect(tables["account"] == ["rows": 31, "depth": 1])
    #expect(tables["label"] == ["rows": 92, "depth": 1])
  }

  @Test func `goes on in a new branch after a restore`() throws {
    let written = try WrittenVault()
    _ = try written.create()
    let backup = written.directory("backup")
    let restored = written.directory("restored.vault")
    do {
      let session = try written.open()
      try session.backUp(to: backup)
    }
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: written.keyFile)))
    let session = try Vault.restore(
      backup, to: restored, with: .keyFile(Secret(wiping: &bytes)), options: written.options)
    let head = "\(written.heads)/\(session.vaultID)-\(session.branchID).head"
    let answer = try FormatReader.read(
      restored, "--key-file", written.keyFile, "--head", head)
    #expect(answer.status == 0, "\(answer.errors)")
    let last = try #require((answer.vault["history"] as? [Members])?.last)
    #expect(last["event"] as? String == "restored")
    let copy = try FormatReader.read(backup, "--key-file", written.keyFile)
    #expect(copy.status == 0, "\(copy.errors)")
  }

  /// The other program must be able to say no, or its yes means nothing.
  @Test(arguments: [
    ("UPDATE standing SET day = day + 1", "row"), ("DELETE FROM standing", "standing"),
    ("UPDATE credential SET overview = (SELECT overview FROM account)", "row"),
    ("DELETE FROM entry WHERE number = 1", "entry 1"),
    ("UPDATE entry SET hashes = zeroblob(length(hashes)) WHERE number = 2", "entry 2: hashes"),
    ("UPDATE entry SET body = (SELECT body FROM entry WHERE number = 0)", "entry"),
    ("UPDATE state SET code = zeroblob(32)", "state: code"),
    ("UPDATE slot SET body = zeroblob(length(body))", "slot"),
    ("DELETE FROM slot WHERE id = (SELECT max(id) FROM slot)", "slots"),
    ("DELETE FROM node WHERE place = (SELECT max(place) FROM node)", "state tree"),
    ("INSERT INTO node VALUES (1 << 60, x'00')", "belongs nowhere"),
    ("CREATE VIEW more AS SELECT 1", "schema"),
  ])
  func `is refused by the other program once it was altered`(_ sql: String, _ what: String) throws {
    let written = try WrittenVault()
    _ = try written.create()
    try #require(try FormatReader.tamper(written.path, sql))
    let answer = try FormatReader.read(written.path, "--key-file", written.keyFile)
    #expect(answer.status == 65)
    #expect(answer.errors.contains(what), "\(answer.errors)")
  }
}
