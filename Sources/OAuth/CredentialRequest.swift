package import Sodium

/// A request to an endpoint that hands out, changes or ends credentials, ready for a transport to
/// send. Its redirects are not followed: they would take the secrets along.
package struct CredentialRequest: ~Copyable, Sendable {
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  package let method: Method
  package let url: RequestURL

  /// The value of the `Authorization` header.
  package var authorization: SecretBytes?

  /// The value of the `DPoP` header, which is of use once.
  package var proof: String?

  /// `application/x-www-form-urlencoded`; nil for no body.
  package let form: SecretBytes?

  /// - Throws: ``OAuthError/insecure(_:)`` for plain HTTP to another machine.
  init(
    _ method: Method, _ url: RequestURL, authorization: consuming SecretBytes? = nil,
    form: consuming SecretBytes? = nil
  ) throws(OAuthError) {
    guard url.isPrivate else { throw .insecure("credentials over plain HTTP") }
    self.method = method
    self.url = url
    self.authorization = authorization
    self.form = form
  }
}
