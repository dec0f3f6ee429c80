/// Why a request cannot be signed, or an answer cannot be used. Never names a secret.
package enum OAuthError: Error, Equatable, Sendable {
  /// No absolute `http` or `https` address, or one with a name and password in it, or with
  /// characters that have to be encoded.
  case badURL(String)
  /// A `%` that no two hexadecimal digits follow.
  case badEscape
  /// Something given for a request that a protocol does not allow there.
  case badParameter(String)
  /// A protocol parameter that stands in the request already: each may stand there once (RFC 5849
  /// section 3.5, RFC 6749 section 3.1).
  case repeatedParameter(String)
  /// What signs by value did not, with its reason.
  case cannotSign(String)
  /// A way to authenticate that would show a secret to the network, or that lacks its secret.
  case insecure(String)
  /// An answer that is not what the protocol says, with the rule that it breaks.
  case badAnswer(String)
}
