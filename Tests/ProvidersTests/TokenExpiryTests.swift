import Providers
import Testing
import Time

@Suite struct `A token's end` {
  static func expiry(_ members: String, _ response: String = "") throws -> (
    TokenExpiry, [TokenNote]
  ) {
    let provider = try custom(response.isEmpty ? "" : "\"response\": {\(response)}")
    let found = try read(
      "{\"access_token\":\"A\"\(members.isEmpty ? "" : "," + members)}", provider)
    return (found.expiry, found.notes)
  }

  @Test func `is unknown where nothing is said`() throws {
    #expect(try Self.expiry("").0 == .unknown)
    #expect(try Self.expiry(#""expires_in":null"#).0 == .unknown)
    #expect(try Self.expiry("", #""missing_expiry": "never""#).0 == .never)
    #expect(try Self.expiry("", #""missing_expiry": 7200"#).0 == after(7200))
    #expect(try read(#"{"access_token":"A"}"#, builtIn("facebook")).expiry == .unknown)
    #expect(try read(#"{"access_token":"A"}"#, builtIn("x")).expiry == after(7200))
    #expect(try read(#"{"access_token":"A"}"#, builtIn("weibo")).expiry == .unknown)
  }

  @Test func `is by zero what the definition says`() throws {
    #expect(try Self.expiry(#""expires_in":0"#).0 == after(0))
    #expect(try Self.expiry(#""expires_in":"0""#, #""zero_expiry": "never""#).0 == .never)
    #expect(try read(#"{"access_token":"A","expires_in":0}"#, builtIn("facebook")).expiry == .never)
    #expect(try read(#"{"access_token":"A","expires_in":0}"#, builtIn("x")).expiry == after(0))
    #expect(try read(#"{"access_token":"A","expires_in":0}"#, builtIn("weibo")).expiry == after(0))
  }

  @Test func `is guessed by size where the unit is not known, with a note`() throws {
    let guessed = [TokenNote.unitGuessed("expires_in")]
    #expect(try Self.expiry(#""expires_in":5183999"#) == (after(5_183_999), []))
    #expect(try Self.expiry(#""expires_in":5183999000"#) == (after(5_183_999), guessed))
    let instant = TokenExpiry.at(Timestamp(seconds: 1_767_225_600))
    #expect(try Self.expiry(#""expires_in":1767225600"#) == (instant, guessed))
    #expect(try Self.expiry(#""expires_in":1767225600000"#) == (instant, guessed))
    #expect(try Self.expiry(#""expires_at":1767225600"#) == (instant, []))
    #expect(
      try Self.expiry(#""expires_at":1767225600000"#) == (instant, [.unitGuessed("expires_at")]))
    #expect(
      try Self.expiry(#""expires_at":"2027-01-01T00:00:00Z""#).0
        == .at(Timestamp(rfc3339: "2027-01-01T00:00:00Z")!))
    #expect(try Self.expiry(#""expires_in":9223372036854775807"#).0 == .unknown)
  }

  @Test func `is read in the unit that the definition states, and not guessed then`() throws {
    #expect(
      try Self.expiry(#""expires_in":5183999000"#, #""expires_unit": "milliseconds""#)
        == (after(5_183_999), []))
    #expect(
      try Self.expiry(#""expires_in":1798000000"#, #""expires_unit": "epoch_seconds""#)
        == (.at(Timestamp(seconds: 1_798_000_000)), []))
    #expect(
      try Self.expiry(#""expires_in":1798000000000"#, #""expires_unit": "epoch_milliseconds""#)
        == (.at(Timestamp(seconds: 1_798_000_000)), []))
    let far = try Self.expiry(#""expires_in":1767225600"#, #""expires_unit": "seconds""#)
    #expect(far == (after(1_767_225_600), [.expiryFarAway("expires_in")]))
  }

  @Test func `is taken from numbers as text, and from fractions without them`() throws {
    #expect(try Self.expiry(#""expires_in":"3600""#).0 == after(3600))
    #expect(try Self.expiry(#""expires_in":" 3600 ""#).0 == after(3600))
    #expect(try Self.expiry(#""expires_in":3599.9"#).0 == after(3599))
    #expect(try Self.expiry(#""expires_in":-5"#).0 == after(0))
    for odd in [#""soon""#, "1e3", "true", #""""#, #""0x10""#, "99999999999999999999"] {
      let found = try Self.expiry("\"expires_in\":\(odd)")
      #expect(found == (.unknown, [.expiryNotUnderstood("expires_in")]), "\(odd)")
    }
    #expect(
      failure(#"{"access_token":"A","expires_in":[1]}"#, try custom("")) == .badMember("expires_in")
    )
  }
}
