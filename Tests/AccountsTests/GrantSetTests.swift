import Encoding
import Testing
import Time

@testable import Accounts

@Suite struct `A set of grants` {
  static let time = Timestamp(seconds: 1_796_019_000)
  static let email = Permission("email", .read)
  static let publish = Permission("publish_actions", .write)
  static let empty = GrantSet(app: "123", account: AccountID(Key16(Array(0..<16))))

  static func decision(
    _ entry: UInt64, after: Int64 = 0, by: PermissionStanding.Author = .person
  ) -> GrantDecision {
    GrantDecision(by: by, at: time + after, entry: entry, reason: nil)
  }

  @Test func `of an app that nobody asked about grants nothing`() {
    let set = `A set of grants`.empty
    #expect(set.state(of: "email", now: `A set of grants`.time) == .never)
    #expect(!set.allows(["email"], now: `A set of grants`.time))
    #expect(!set.allows([], now: `A set of grants`.time))
  }

  @Test func `keeps its names in order and each once`() {
    let names = ["b", "a", "c", "a", "Z", "ä", "é", "e\u{301}"]
    var set = `A set of grants`.empty
    for (entry, name) in names.enumerated() {
      set = set.granting([.init(name, .read)], `A set of grants`.decision(UInt64(entry)))
    }
    #expect(
      set.standings.map { Array($0.name.utf8) }
        == ["Z", "a", "b", "c", "e\u{301}", "ä", "é"].map { Array($0.utf8) })
    #expect(set.standing(of: "a")?.entry == 3)
  }

  @Test func `keeps an audience for what is written alone`() {
    let set = `A set of grants`.empty.granting(
      [`A set of grants`.email, `A set of grants`.publish], audience: .friends,
      `A set of grants`.decision(1))
    #expect(set.standing(of: "email")?.audience == nil)
    #expect(set.standing(of: "publish_actions")?.audience == .friends)
    #expect(set.allows(["email", "publish_actions"], now: `A set of grants`.time))
  }

  @Test func `lapses at the second of its end`() {
    let end = `A set of grants`.time + 60
    let set = `A set of grants`.empty.granting(
      [`A set of grants`.email], until: end, `A set of grants`.decision(1))
    #expect(set.state(of: "email", now: end - 1) == .granted)
    #expect(set.state(of: "email", now: end) == .lapsed)
    #expect(set.granted(now: end).isEmpty)
    #expect(set.unrecordedLapses(now: end).map(\.name) == ["email"])
    #expect(set.unrecordedLapses(now: end - 1).isEmpty)
  }

  @Test func `is not revived by a clock that is set back after the lapse was recorded`() {
    let end = `A set of grants`.time + 60
    let set = `A set of grants`.empty
      .granting([`A set of grants`.email], until: end, `A set of grants`.decision(1))
      .lapsing(["email"], entry: 2)
    #expect(set.state(of: "email", now: `A set of grants`.time) == .lapsed)
    #expect(set.unrecordedLapses(now: end).isEmpty)
    let again = set.granting([`A set of grants`.email], `A set of grants`.decision(3))
    #expect(again.state(of: "email", now: end) == .granted)
  }

  @Test func `takes back everything that was granted and leaves what was denied`() {
    let set = `A set of grants`.empty
      .granting(
        [`A set of grants`.email, `A set of grants`.publish], `A set of grants`.decision(1)
      )
      .denying([.init("read_mailbox", .extended)], `A set of grants`.decision(2))
      .revokingAll(`A set of grants`.decision(3, after: 9))
    let now = `A set of grants`.time + 10
    #expect(set.state(of: "email", now: now) == .revoked)
    #expect(set.state(of: "publish_actions", now: now) == .revoked)
    #expect(set.state(of: "read_mailbox", now: now) == .denied)
    #expect(set.standing(of: "email")?.entry == 3)
    #expect(set.standing(of: "email")?.since == `A set of grants`.time + 9)
    #expect(set.standing(of: "read_mailbox")?.entry == 2)
  }

  @Test func `records who decided, and a denial of what was never asked`() {
    let set = `A set of grants`.empty
      .denying([`A set of grants`.email], `A set of grants`.decision(1, by: .configuration))
      .revoking([`A set of grants`.publish], `A set of grants`.decision(2, by: .provider))
    #expect(set.standing(of: "email")?.decidedBy == .configuration)
    #expect(set.standing(of: "publish_actions")?.decision == .revoked)
  }

  @Test func `notes when the provider confirmed a grant, and no denial`() {
    let set = `A set of grants`.empty
      .granting([`A set of grants`.email], `A set of grants`.decision(1))
      .denying([`A set of grants`.publish], `A set of grants`.decision(2))
      .confirming(["email", "publish_actions", "unknown"], at: `A set of grants`.time + 5)
    #expect(set.standing(of: "email")?.confirmedAt == `A set of grants`.time + 5)
    #expect(set.standing(of: "publish_actions")?.confirmedAt == nil)
    #expect(set.standings.count == 2)
  }
}

@Suite struct `An audience` {
  @Test func `is written as in the contract, and public means everyone`() {
    #expect(Audience("everyone") == .everyone)
    #expect(Audience("public") == .everyone)
    #expect(Audience("friends") == .friends)
    #expect(Audience("only_me") == .onlyMe)
    #expect(Audience("Friends") == nil)
    #expect(Audience("") == nil)
  }
}

@Suite struct `An ask` {
  @Test func `is cut off with its process and ends with its deadline`() {
    let ask = Records.asks[0]
    #expect(ask.state(now: Records.time, isAlive: { _ in true }) == .pending)
    #expect(ask.state(now: Records.time, isAlive: { _ in false }) == .interrupted)
    #expect(ask.state(now: Records.time + 299, isAlive: { _ in true }) == .pending)
    #expect(ask.state(now: Records.time + 300, isAlive: { _ in true }) == .overdue)
  }

  @Test func `without a process waits until its deadline`() {
    let ask = Ask(
      id: Key16(Array(0..<16)), app: "1", type: "x", permissions: ["email"],
      askedAt: Records.time, deadline: Records.time + 9)
    #expect(ask.state(now: Records.time + 8, isAlive: { _ in false }) == .pending)
    #expect(ask.state(now: Records.time + 9, isAlive: { _ in false }) == .overdue)
  }
}
