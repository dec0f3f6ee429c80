package import Sodium

/// Whose request it is: the client, and the token where there is one already.
package struct SigningCredentials: ~Copyable, Sendable {
  /// The client's identifier, called its consumer key in 2012.
  package let clientID: String
  package let clientSecret: SecretBytes
  package let token: SecretBytes?
  package let tokenSecret: SecretBytes?

  package init(
    clientID: String, clientSecret: consuming SecretBytes, token: consuming SecretBytes? = nil,
    tokenSecret: consuming SecretBytes? = nil
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.token = token
    self.tokenSecret = tokenSecret
  }

  var hasToken: Bool {
    switch token {
    case .some: true
    case .none: false
    }
  }
}
