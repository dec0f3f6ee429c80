internal import Encoding
package import Sodium

/// A body or query of form fields (`application/x-www-form-urlencoded`) that is put together, in its
/// order; values may be secrets.
package struct FormBody: ~Copyable {
  private var bytes = WipedBytes(capacity: 512)
  private var names: [String] = []
  private let encoding: PercentEncoding

  /// - Parameter encoding: A server that decodes forms understands both. OAuth 1.0a's own is
  ///   understood by those too that take a `+` for a plus.
  package init(_ encoding: PercentEncoding = .form) {
    self.encoding = encoding
  }

  private mutating func begin(_ name: String) {
    if bytes.count > 0 { bytes.append(UInt8(ascii: "&")) }
    bytes.append(name, encoding)
    bytes.append(UInt8(ascii: "="))
    names.append(name)
  }

  package mutating func append(_ name: String, _ value: String) {
    begin(name)
    bytes.append(value, encoding)
  }

  package mutating func append(_ name: String, _ value: borrowing SecretBytes) {
    begin(name)
    value.withBytes { bytes.append($0, encoding) }
  }

  /// Appends what stands in none of the fields yet.
  ///
  /// - Throws: ``OAuthError/repeatedParameter(_:)``: no parameter may stand there twice (RFC 6749
  ///   section 3.1), and which one a server takes is anybody's guess.
  package mutating func append(
    further fields: [(name: String, value: String)]
  ) throws(OAuthError) {
    for (name, value) in fields {
      guard !names.contains(name) else { throw .repeatedParameter(name) }
      append(name, value)
    }
  }

  package consuming func finish() -> SecretBytes { bytes.finish() }

  /// The fields as text. Not where a value is a secret.
  consuming func text() -> String { bytes.finish().withBytes { $0.text ?? "" } }
}
