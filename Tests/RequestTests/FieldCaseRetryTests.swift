import AccountVault
import Accounts
import Faults
import Foundation
import Listener
import Providers
import TestSupport
import Testing
import Time

/// FIELD-CASES B43: the times that a provider names.
@Suite struct `A time to retry` {
  /// How a date is written, seconds from now, and the seconds that come of it.
  static let retryDates: [(form: String, offset: Int64, seconds: Int64?)] = [
    ("EEE, dd MMM yyyy HH:mm:ss 'GMT'", 90, 90),
    ("EEEE, dd-MMM-yy HH:mm:ss 'GMT'", 90, 90),
    ("EEE MMM d HH:mm:ss yyyy", 90, 90),
    // What is past means now.
    ("EEE, dd MMM yyyy HH:mm:ss 'GMT'", -3600, 0),
    ("EEEE, dd-MMM-yy HH:mm:ss 'GMT'", -86_400, 0),
    // Nobody waits for years on a provider's word.
    ("EEE, dd MMM yyyy HH:mm:ss 'GMT'", 3 * 365 * 86_400, 31 * 86_400),
    // No zone but GMT, no day that does not exist, nothing in front of a date.
    ("EEE, dd MMM yyyy HH:mm:ss '+0000'", 90, nil),
    ("EEE, '31 Feb' yyyy HH:mm:ss 'GMT'", 90, nil),
    ("yyyy-MM-dd'T'HH:mm:ss'Z'", 90, nil),
    ("'in' EEE, dd MMM yyyy HH:mm:ss 'GMT'", 90, nil),
  ]

  static func date(_ form: String, _ time: Timestamp) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = form
    return formatter.string(from: Date(timeIntervalSince1970: Double(time.seconds)))
  }

  @Test(arguments: retryDates.indices)
  func `B43 Retry-After is believed in each form of a date`(_ index: Int) async throws {
    let (form, offset, seconds) = Self.retryDates[index]
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(stage, "mastodon", permissions: ["read"])
    let now = stage.place.clock.now
    let value = Self.date(form, now + offset)
    stage.on("/api", .json("{}", status: 429, headers: [("Retry-After", value)]))
    let response = try await `A request in the field`.send(stage, session)
    #expect(response.error?.code == .tryAgain && response.errorClass == .throttled)
    let message = try #require(response.error?.message)
    #expect(message.contains("makes sense at") == (seconds != nil), "\(value): \(message)")
    if let seconds { #expect(message.contains("\(now + seconds)"), "\(value): \(message)") }
    stage.on("/api", .json("{}"))
    if let seconds, seconds > 0 {
      // Not a second before, and not a second after.
      stage.place.clock.advance(seconds - 1)
      let early = await refusal { try await `A request in the field`.send(stage, session) }
      #expect(early.code == .tryAgain && early.reason == .throttled)
      #expect(stage.requests("/api").count == 1)
      stage.place.clock.advance(1)
    }
    #expect(try await `A request in the field`.send(stage, session).error == nil)
    #expect(stage.requests("/api").count == 2)
    #expect(try session.state(account) == .valid)
  }

  @Test(arguments: ["99999999999", "99999999999999999999999999"])
  func `B43 a very long Retry-After is 31 days`(_ value: String) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "mastodon", permissions: ["read"])
    let cap = stage.place.clock.now + 31 * 86_400
    stage.on("/api", .json("{}", status: 429, headers: [("Retry-After", value)]))
    let response = try await `A request in the field`.send(stage, session)
    #expect(response.error?.message.contains("\(cap)") == true)
    stage.on("/api", .json("{}"))
    stage.place.clock.advance(31 * 86_400 - 1)
    let early = await refusal { try await `A request in the field`.send(stage, session) }
    #expect(early.message.contains("\(cap)") && stage.requests("/api").count == 1)
    stage.place.clock.advance(1)
    #expect(try await `A request in the field`.send(stage, session).error == nil)
  }

  @Test func `B43 a date is waited for where the caller lets it, exactly and in all`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "mastodon", permissions: ["read"])
    let form = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let value = Self.date(form, stage.place.clock.now + 90)
    stage.on(
      "/api",
      inTurn: [
        .json("{}", status: 429, headers: [("Retry-After", value)]),
        .json("{}", status: 429, headers: [("Retry-After", "0")]),
        .json("{}", status: 429, headers: [("Retry-After", "60")]), .json("{}"),
      ])
    var request = SignedRequest(.get, stage.url("/api"))
    request.limits.waitSeconds = 120
    let response = try await session.send(request, app: "123", over: stage.network)
    // 90 seconds, then at once, and 60 more would be too many.
    #expect(stage.waits.all == [90] && stage.requests("/api").count == 3)
    #expect(response.error?.code == .tryAgain && response.status == 429)
  }
}
