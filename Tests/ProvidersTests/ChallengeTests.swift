import Testing

@testable import Providers

@Suite struct `A challenge of WWW-Authenticate` {
  @Test func `stands beside others in one header`() {
    let found = Challenge.parse(
      "Basic realm=\"a, b\", DPoP error=\"use_dpop_nonce\", algs=\"ES256\", bearer ERROR=invalid_token"
    )
    #expect(found.map(\.scheme) == ["basic", "dpop", "bearer"])
    #expect(found.map(\.error) == [nil, "use_dpop_nonce", "invalid_token"])
    #expect(found.map(\.asksForNonce) == [false, true, false])
    #expect(found[0].parameters.first?.value == "a, b")
  }

  @Test func `reads escaped quotes`() {
    let found = Challenge.parse(
      "Bearer realm=\"a \\\"b\\\" c\", error=\"insufficient_scope\", scope=\"x y\"")
    #expect(found.count == 1)
    #expect(found[0].parameters.map(\.value) == ["a \"b\" c", "insufficient_scope", "x y"])
  }

  @Test(arguments: [
    "Bearer", "Bearer realm=\"api\"", "DPoP algs=\"ES256\"", "Bearer error=\"use_dpop_nonce\"",
  ])
  func `asks for no nonce without saying so to a proof`(_ header: String) {
    #expect(Challenge.parse(header).allSatisfy { !$0.asksForNonce })
  }
}
