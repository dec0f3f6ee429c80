/// Which of a provider's addresses a reply came from; the same code can mean different things.
package enum Endpoint: String, Sendable, Hashable, CaseIterable {
  /// The redirect back from the authorize page.
  case authorize
  /// The token endpoint, when a code or a verifier is exchanged.
  case token
  /// The token endpoint, when a credential is renewed.
  case renewal
  /// Starting and polling the device flow.
  case device
  case revoke
  case introspect
  /// Any call that carries the account's credential.
  case api

  /// Whether the endpoint belongs to the OAuth protocol: its unknown refusals never speak of a token.
  package var isOAuth: Bool { self != .api }

  /// Whether a row that says `at` applies here: `token` covers every endpoint of the protocol.
  func isCovered(by place: Endpoint) -> Bool {
    place == self || (place == .token && isOAuth)
  }
}
