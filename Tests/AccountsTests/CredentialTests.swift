import Testing
import Time

@testable import Accounts

@Suite struct `A credential` {
  static let time = Timestamp(seconds: 1_796_019_000)

  static func credential(
    lifetime: Int64? = 300, expiry: Expiry? = nil, mark: Credential.Mark = .none
  ) -> Credential {
    Credential(
      clientID: "c", kind: .oauth2, tokenType: "bearer", generation: 1, obtainedAt: time,
      lifetime: lifetime,
      expiry: expiry ?? lifetime.map { Expiry.after($0, from: time) } ?? .unknown,
      source: .response, hasRefreshToken: true, mark: mark)
  }

  @Test(
    arguments: [
      (Int64(0), CredentialState.valid), (224, .valid), (225, .expiring), (299, .expiring),
      (300, .expired), (301, .expired),
    ])
  func `of 300 seconds under a margin of 600 is due after three quarters`(
    _ after: Int64, _ state: CredentialState
  ) {
    let credential = `A credential`.credential()
    #expect(credential.state(now: `A credential`.time + after, marginSeconds: 600) == state)
    #expect(credential.dueAt(marginSeconds: 600) == `A credential`.time + 225)
  }

  @Test func `of a long life is due by the margin`() {
    let credential = `A credential`.credential(lifetime: 14_400)
    let due = `A credential`.time + 13_800
    #expect(credential.dueAt(marginSeconds: 600) == due)
    #expect(credential.state(now: due - 1, marginSeconds: 600) == .valid)
    #expect(credential.state(now: due, marginSeconds: 600) == .expiring)
    #expect(credential.state(now: due, marginSeconds: 0) == .valid)
    #expect(credential.state(now: due, marginSeconds: -5) == .valid)
  }

  @Test func `with an end and no lifetime takes a quarter of the way to it`() {
    let credential = `A credential`.credential(
      lifetime: nil, expiry: .at(`A credential`.time + 400))
    #expect(credential.dueAt(marginSeconds: 600) == `A credential`.time + 300)
  }

  @Test(arguments: [Expiry.unknown, .never])
  func `without a known end is valid at any time`(_ expiry: Expiry) {
    let credential = `A credential`.credential(lifetime: nil, expiry: expiry)
    for now in [Int64.min, 0, `A credential`.time.seconds, .max] {
      let state = credential.state(now: Timestamp(seconds: now), marginSeconds: 600)
      #expect(state == .valid)
    }
    #expect(credential.dueAt(marginSeconds: 600) == nil)
  }

  @Test(
    arguments: [
      (Credential.Mark.rejected(reason: "r", at: time), CredentialState.rejected),
      (.uncertain(since: time), .uncertain), (.stale(since: time), .stale),
    ])
  func `with a mark stands as the mark says, whatever the date`(
    _ mark: Credential.Mark, _ state: CredentialState
  ) {
    let credential = `A credential`.credential(mark: mark)
    #expect(credential.state(now: `A credential`.time, marginSeconds: 0) == state)
    #expect(credential.state(now: `A credential`.time + 9999, marginSeconds: 0) == state)
  }

  @Test func `is due, neither good nor dead, under a clock that was set back`() {
    let credential = `A credential`.credential()
    let time = `A credential`.time
    #expect(credential.state(now: time - 300, marginSeconds: 600) == .valid)
    #expect(credential.state(now: time - 301, marginSeconds: 600) == .expiring)
    #expect(credential.state(now: Timestamp(seconds: 0), marginSeconds: 600) == .expiring)
  }

  @Test func `survives a start in 1970, the true time, and a day set back with a renewal each`() {
    // What is renewed under one clock is believed under it and due at most once under the next.
    var credential = Credential(
      clientID: "c", kind: .oauth2, tokenType: "", generation: 1,
      obtainedAt: Timestamp(seconds: 10), lifetime: 14_400,
      expiry: .after(14_400, from: Timestamp(seconds: 10)), source: .response,
      hasRefreshToken: true)
    var renewals = 0
    for now in [20, `A credential`.time.seconds, `A credential`.time.seconds - 86_400] {
      for second in 0..<60 {
        let now = Timestamp(seconds: now + Int64(second))
        if credential.state(now: now, marginSeconds: 600) != .valid {
          renewals += 1
          credential = Credential(
            clientID: "c", kind: .oauth2, tokenType: "", generation: credential.generation + 1,
            obtainedAt: now, lifetime: 14_400, expiry: .after(14_400, from: now),
            source: .renewal, hasRefreshToken: true)
        }
      }
    }
    #expect(renewals == 2)
  }

  @Test func `never ends before it began`() {
    let time = `A credential`.time
    #expect(`A credential`.credential(expiry: .at(time - 1)).expiry == .at(time))
    #expect(Expiry.after(-5, from: time) == .at(time))
    #expect(Expiry.after(.max, from: time) == .at(Timestamp(seconds: .max)))
  }

  @Test func `at the edges of time does not overflow`() {
    let edges = [Int64.min, -1, 0, 1, .max]
    for obtained in edges {
      for end in edges {
        let credential = Credential(
          clientID: "", kind: .oauth2, tokenType: "", generation: 1,
          obtainedAt: Timestamp(seconds: obtained), expiry: .at(Timestamp(seconds: end)),
          source: .response, hasRefreshToken: false)
        for now in edges {
          _ = credential.state(now: Timestamp(seconds: now), marginSeconds: .max)
        }
      }
    }
  }
}

@Suite struct `An answer about scopes` {
  @Test func `that says nothing leaves what was asked or held`() {
    let answer = ScopeAnswer(answered: nil, before: ["email", "publish_actions"])
    #expect(answer.scopes == ["email", "publish_actions"])
    #expect(answer.missing.isEmpty)
  }

  @Test func `that is empty is a no to everything`() {
    let answer = ScopeAnswer(answered: [], before: ["email", "publish_actions"])
    #expect(answer.scopes == [])
    #expect(answer.missing == ["email", "publish_actions"])
  }

  @Test func `that is narrower names what is missing`() {
    let answer = ScopeAnswer(answered: ["email"], before: ["email", "publish_actions"])
    #expect(answer.scopes == ["email"])
    #expect(answer.missing == ["publish_actions"])
  }

  @Test func `that is wider names what was added`() {
    let answer = ScopeAnswer(answered: ["email", "x"], before: ["email"])
    #expect(answer.added == ["x"])
    #expect(ScopeAnswer(answered: ["x"], before: nil).added.isEmpty)
    #expect(ScopeAnswer(answered: nil, before: nil).scopes == nil)
  }
}
