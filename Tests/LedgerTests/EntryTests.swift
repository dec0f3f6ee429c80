import Encoding
import Testing
import Time

@testable import Ledger

@Suite struct `An entry` {
  static let full = Entry(
    number: 7, time: Timestamp(seconds: 1_796_019_000), event: .granted, actor: "owner",
    app: "123", account: Key16(Array(0..<16)), accountLabel: "facebook:lestat.ali",
    permissions: ["email", "publish_actions"], audience: "friends",
    until: Timestamp(seconds: 1_796_105_400), reason: "for the trip",
    evidence: Evidence(
      status: 400, code: "190", subcode: "458", class: "revoked", bodyHash: "00ff"),
    details: [.init("client", "9"), .init("client", "10")])
  static let bare = Entry(
    number: 0, time: Timestamp(seconds: -1), event: .vaultCreated, actor: "engine")

  @Test(arguments: [full, bare]) func `is what its body says`(_ entry: Entry) throws {
    let decoded = try Entry(body: entry.body)
    #expect(decoded == entry)
    #expect(decoded.body == entry.body)
  }

  @Test func `has the bytes that the format names`() {
    var writer = Writer()
    writer.u8(1)
    writer.u64(0)
    writer.i64(-1)
    writer.u8(1)
    writer.field("engine")
    writer.raw([0, 0, 0])  // app, account, label
    writer.u32(0)  // permissions
    writer.raw([0, 0, 0, 0])  // audience, until, reason, evidence
    writer.u32(0)  // details
    #expect(`An entry`.bare.body == writer.bytes)
  }

  @Test(arguments: [full, bare]) func `cut off anywhere is refused`(_ entry: Entry) {
    let body = entry.body
    for count in 0..<body.count {
      #expect(throws: LedgerError.self) { try Entry(body: Array(body[..<count])) }
    }
  }

  @Test func `with bytes behind it is refused`() {
    #expect(throws: LedgerError.self) { try Entry(body: `An entry`.full.body + [0]) }
  }

  @Test func `has one body only, whichever bit is changed`() {
    let body = `An entry`.full.body
    for place in body.indices {
      for bit in 0..<8 {
        var other = body
        other[place] ^= 1 << bit
        // Either refused, or another entry; never another spelling of the same one.
        if let entry = try? Entry(body: other) {
          #expect(entry != `An entry`.full)
          #expect(entry.body == other)
        }
      }
    }
  }

  @Test func `of a later version is told apart`() {
    var body = `An entry`.bare.body
    body[0] = 2
    #expect(throws: LedgerError.newerVersion(2)) { try Entry(body: body) }
  }

  @Test(arguments: [UInt8(0), 34, 255])
  func `of an event outside the registry is refused`(_ code: UInt8) {
    var body = `An entry`.bare.body
    body[17] = code
    #expect(throws: LedgerError.unknownEvent(code: code)) { try Entry(body: body) }
  }

  @Test func `gives the first detail of a name`() {
    #expect(`An entry`.full.detail("client") == "9")
    #expect(`An entry`.full.detail("generation") == nil)
    #expect(`An entry`.full.accountID == "aaaqeayeaudaocajbifqydiob4")
  }
}

@Suite struct `An event` {
  @Test func `keeps its code for ever`() {
    let registry: [(UInt8, String)] = [
      (1, "vault_created"), (2, "account_added"), (3, "account_renamed"), (4, "account_removed"),
      (5, "signed_in"), (6, "client_added"), (7, "client_removed"), (8, "app_added"),
      (9, "app_removed"), (10, "app_key_changed"), (11, "access_requested"), (12, "granted"),
      (13, "denied"), (14, "revoked"), (15, "lapsed"), (16, "narrowed"), (17, "lost_on_site"),
      (18, "token_used"), (19, "use_refused"), (20, "renewal_started"), (21, "renewed"),
      (22, "rejected"), (23, "failed"), (24, "expired"), (25, "keys_changed"),
      (26, "anchor_reset"), (27, "restored"), (28, "imported"), (29, "verified"),
      (30, "ask_interrupted"), (31, "provider_added"),
      (32, "revocation_sent"), (33, "widened"),
    ]
    #expect(Event.allCases.count == registry.count)
    for (code, name) in registry {
      #expect(Event(code: code)?.rawValue == name)
      #expect(Event(rawValue: name)?.code == code)
    }
  }
}
