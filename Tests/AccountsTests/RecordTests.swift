import Encoding
import Testing
import Time

@testable import Accounts

/// One record of each kind, with everything set and with as little as possible.
enum Records {
  static let time = Timestamp(seconds: 1_796_019_000)
  static let id = AccountID(Key16(Array(0..<16)))

  static let accounts = [
    Account(
      id: id, type: "twitter", username: "new", userID: "9007199254740993", description: "bot",
      createdAt: time, formerUsernames: [.init(name: "old", until: time + 5)],
      clients: ["c1", "c2"]),
    Account(id: id, type: "", username: "", createdAt: time),
  ]
  static let credentials = [
    Credential(
      clientID: "c1", kind: .oauth2, tokenType: "bearer", generation: 3, obtainedAt: time,
      lifetime: 300, expiry: .at(time + 300), refreshExpiresAt: time + 900,
      dataAccessUntil: time + 1000, scopes: [], askedScopes: ["email"], source: .renewal,
      hasRefreshToken: true, mark: .rejected(reason: "invalid_grant", at: time + 1),
      notes: ["unit guessed"]),
    Credential(
      clientID: "c1", kind: .oauth1, tokenType: "", generation: 1, obtainedAt: time,
      expiry: .never, source: .tokenStdin, hasRefreshToken: false),
    Credential(
      clientID: "c1", kind: .oauth2, tokenType: "", generation: 1, obtainedAt: time,
      expiry: .unknown, source: .restore, hasRefreshToken: false, mark: .stale(since: time)),
    Credential(
      clientID: "c1", kind: .oauth2, tokenType: "", generation: 1, obtainedAt: time,
      expiry: .at(time), source: .response, hasRefreshToken: false,
      mark: .uncertain(since: time)),
  ]
  static let clients = [
    Client(
      type: "x", clientID: "9", name: "n", redirect: "http://127.0.0.1/", createdAt: time,
      isDefault: true, hasSecret: true),
    Client(type: "x", clientID: "9", createdAt: time, isDefault: false, hasSecret: false),
  ]
  static let apps = [
    App(
      id: "123", name: "Cron", clients: [.init(type: "x", clientID: "9")], signOnly: true,
      uids: [1000, 1001], keyHash: Digest32(Array(0..<32)), createdAt: time,
      keyChangedAt: time + 1),
    App(id: "a", name: "", createdAt: time),
  ]
  static let grants = [
    GrantSet(app: "123", account: id)
      .granting(
        [.init("publish_actions", .write), .init("email", .read)], audience: .friends,
        until: time + 60, .init(by: .person, at: time, entry: 4, reason: "r")
      )
      .denying([.init("read_mailbox", .extended)], .init(by: .configuration, at: time, entry: 5))
      .confirming(["email"], at: time + 1)
      .lapsing(["email"], entry: 6),
    GrantSet(app: "123", account: id),
  ]
  static let asks = [
    Ask(
      id: Key16(Array(0..<16)), app: "123", type: "facebook", account: id,
      permissions: ["email"], group: .readwrite, audience: .onlyMe, askedAt: time,
      deadline: time + 300,
      asker: .init(processID: 77, startedAt: 123_456, bootID: "0b8f")),
    Ask(
      id: Key16(Array(0..<16)), app: "123", type: "facebook", permissions: [], askedAt: time,
      deadline: time),
  ]

  /// Holds a codec to the rules of every record: what is written is read, and nothing else is.
  static func check<Record: Equatable>(
    _ record: Record, _ bytes: (Record) -> [UInt8],
    _ decode: ([UInt8]) throws(EncodingError) -> Record
  ) throws {
    let written = bytes(record)
    let read = try decode(written)
    #expect(read == record)
    for count in written.indices {
      #expect(throws: EncodingError.self) { _ = try decode(Array(written[..<count])) }
    }
    #expect(throws: EncodingError.self) { _ = try decode(written + [0]) }
    #expect(throws: EncodingError.self) { _ = try decode([2] + written.dropFirst()) }
    for place in written.indices {
      for bit in 0..<8 {
        var other = written
        other[place] ^= 1 << bit
        // Refused, or another value: never a second form of the same one.
        if let value = try? decode(other) {
          #expect(value != record)
          #expect(bytes(value) == other)
        }
      }
    }
  }
}

@Suite struct `A record` {
  @Test(arguments: Records.accounts) func `of an account has one form`(_ r: Account) throws {
    try Records.check(r, \.bytes) { (b) throws(EncodingError) in try Account(b) }
  }

  @Test(arguments: Records.credentials) func `of a credential has one form`(
    _ r: Credential
  ) throws {
    try Records.check(r, \.bytes) { (b) throws(EncodingError) in try Credential(b) }
  }

  @Test(arguments: Records.clients) func `of a client has one form`(_ r: Client) throws {
    try Records.check(r, \.bytes) { (b) throws(EncodingError) in try Client(b) }
  }

  @Test(arguments: Records.apps) func `of an app has one form`(_ r: App) throws {
    try Records.check(r, \.bytes) { (b) throws(EncodingError) in try App(b) }
  }

  @Test(arguments: Records.grants) func `of grants has one form`(_ r: GrantSet) throws {
    try Records.check(r, \.bytes) { (b) throws(EncodingError) in try GrantSet(b) }
  }

  @Test(arguments: Records.asks) func `of an ask has one form`(_ r: Ask) throws {
    try Records.check(r, \.bytes) { (b) throws(EncodingError) in try Ask(b) }
  }

  @Test func `of grants with a name twice or out of order is refused`() {
    let one = PermissionStanding(
      name: "a", group: .read, decision: .granted, since: Records.time, entry: 1,
      decidedBy: .person)
    let two = PermissionStanding(
      name: "b", group: .read, decision: .denied, since: Records.time, entry: 1,
      decidedBy: .person)
    for standings in [[one, one], [two, one]] {
      var set = GrantSet(app: "1", account: Records.id)
      set.standings = standings
      #expect(throws: EncodingError.self) { _ = try GrantSet(set.bytes) }
    }
  }
}
