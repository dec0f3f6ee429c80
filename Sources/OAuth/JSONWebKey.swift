internal import Encoding
internal import JSON
internal import Sodium

/// A public key as a JSON Web Key (RFC 7517), reduced to the members that its kind requires.
package struct JSONWebKey: Sendable, Equatable {
  /// The required members alone, in the order of their names and without white space (RFC 7638 section
  /// 3.3).
  package let text: String

  private let members: [JSONValue.Member]

  /// - Throws: ``OAuthError/badAnswer(_:)`` for what is no key, for a kind that is not known, and for a
  ///   private key of a pair, which has no place in anything that is sent.
  package init(_ text: String) throws(OAuthError) {
    do throws(JSONError) {
      try self.init(try JSONValue.parse(text))
    } catch {
      throw .badAnswer("no JSON Web Key")
    }
  }

  init(_ value: JSONValue) throws(JSONError) {
    // Section 3.2, and RFC 8037 section 2 for OKP.
    let required: [String]
    switch value["kty"] {
    case .string("EC"): required = ["crv", "kty", "x", "y"]
    case .string("RSA"): required = ["e", "kty", "n"]
    case .string("OKP"): required = ["crv", "kty", "x"]
    default: throw .wrongType(path: "$.kty")
    }
    guard value["d"] == nil else { throw .wrongType(path: "$.d") }
    var members: [JSONValue.Member] = []
    for name in required {
      guard let member = value[name], case .string = member else {
        throw .wrongType(path: "$." + name)
      }
      members.append(JSONValue.Member(name, member))
    }
    self.members = members
    self.text = JSONValue.object(members).text
  }

  var value: JSONValue { .object(members) }

  /// A required member.
  package func member(_ name: String) -> String? {
    if case .string(let text) = value[name] { text } else { nil }
  }

  /// base64url of the SHA-256 of ``text`` (RFC 7638): `jkt` of a token that is bound to the key.
  package var thumbprint: String { Base64.encodeURL(SHA256.digest(Array(text.utf8)).bytes) }
}
