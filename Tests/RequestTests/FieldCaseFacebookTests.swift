import AccountVault
import Accounts
import Faults
import Ledger
import Listener
import Providers
import TestSupport
import Testing

/// FIELD-CASES B31 by the rows of the catalogue, each as the status 400 that Facebook sends.
@Suite struct `A Facebook code` {
  /// Code, subcode, class, whether a renewal is tried, what the command ends with and what is left of the
  /// credential where that renewal is refused too.
  struct FacebookRow: Sendable {
    let code: Int
    let subcode: Int?
    let expected: ErrorClass
    let renews: Bool
    let end: VaultError.Code
    let state: CredentialState

    var body: String {
      let subcode = subcode.map { #","error_subcode":\#($0)"# } ?? ""
      return
        #"{"error":{"message":"m","type":"OAuthException","code":\#(code)\#(subcode)}}"#
    }
  }

  static let facebookRows = [
    FacebookRow(
      code: 190, subcode: nil, expected: .expired, renews: true, end: .signIn, state: .rejected),
    FacebookRow(
      code: 190, subcode: 463, expected: .expired, renews: true, end: .signIn, state: .rejected),
    FacebookRow(
      code: 102, subcode: nil, expected: .expired, renews: true, end: .signIn, state: .rejected),
    FacebookRow(
      code: 102, subcode: 463, expected: .expired, renews: true, end: .signIn, state: .rejected),
    FacebookRow(
      code: 190, subcode: 467, expected: .invalid, renews: false, end: .signIn, state: .rejected),
    FacebookRow(
      code: 102, subcode: 467, expected: .invalid, renews: false, end: .signIn, state: .rejected),
    // The token was not read at all: that is ours, and no account pays for it.
    FacebookRow(
      code: 2500, subcode: nil, expected: .config, renews: false, end: .config, state: .valid),
  ]

  @Test(arguments: facebookRows.indices)
  func `B31 a status of 400 is read by code and subcode, and costs no grant`(_ index: Int)
    async throws
  {
    let row = Self.facebookRows[index]
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["email"], response: #","expires_in":5184000"#)
    // Only what is a day old can be exchanged.
    stage.place.clock.advance(2 * 86_400)
    stage.on("/api", .json(row.body, status: 400))
    stage.on("/token", .json(row.body, status: 400))
    let response = try await `A request in the field`.send(stage, session, permissions: ["email"])
    #expect(response.status == 400 && response.errorClass == row.expected)
    #expect(response.error?.code == row.end && response.body == Array(row.body.utf8))
    #expect(stage.requests("/token").count == (row.renews ? 1 : 0))
    #expect(stage.requests("/api").count == 1)
    #expect(try session.state(account) == row.state)
    #expect(try session.standing(account, "email") == .granted)
    #expect(try session.entries(.lostOnSite).isEmpty)
  }

  @Test(arguments: facebookRows.indices.filter { facebookRows[$0].renews })
  func `B31 what a renewal can help goes on with the new token`(_ index: Int) async throws {
    let row = Self.facebookRows[index]
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["email"], response: #","expires_in":5184000"#)
    stage.place.clock.advance(2 * 86_400)
    stage.on("/api") { request in
      request.header("Authorization") == "Bearer second"
        ? .json("{}") : .json(row.body, status: 400)
    }
    stage.on(
      "/token", .json(#"{"access_token":"second","token_type":"bearer","expires_in":5184000}"#))
    let response = try await `A request in the field`.send(stage, session, permissions: ["email"])
    #expect(response.error == nil && response.status == 200)
    #expect(stage.requests("/token").count == 1 && stage.requests("/api").count == 2)
    #expect(try session.state(account) == .valid)
    #expect(try session.standing(of: account).credentials.first?.credential.generation == 2)
    #expect(try session.standing(account, "email") == .granted)
  }
}
