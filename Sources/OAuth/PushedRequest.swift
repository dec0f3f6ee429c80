/// What a server answers to a pushed authorization request (RFC 9126 section 2.2).
package struct PushedRequest: Sendable, Equatable {
  /// The server's name for the request, of use once.
  package let requestURI: String
  /// Seconds that it lives.
  package let lifetime: Int64?

  /// - Throws: ``OAuthError/badAnswer(_:)``.
  package init(_ body: RawSpan) throws(OAuthError) {
    let answer = try EndpointAnswer(body)
    guard let uri = try answer.text("request_uri"), uri.utf8.count <= 2048,
      uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw .badAnswer("no request_uri") }
    requestURI = uri
    lifetime = try answer.number("expires_in")
  }
}
