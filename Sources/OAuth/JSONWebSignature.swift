internal import Encoding
internal import JSON
internal import Sodium

/// A JSON Web Signature in its compact form (RFC 7515 section 7.1).
package struct JSONWebSignature: Sendable {
  let header: JSONValue
  let payload: JSONValue

  /// What is signed: header and payload as they were sent, with the dot.
  package let signed: [UInt8]

  package let signature: [UInt8]

  /// A member of the header that is text.
  package func header(_ name: String) -> String? {
    if case .string(let text) = header[name] { text } else { nil }
  }

  /// A claim that is text.
  package func claim(_ name: String) -> String? {
    if case .string(let text) = payload[name] { text } else { nil }
  }

  /// A claim that is a whole number.
  package func number(_ name: String) -> Int64? {
    if case .int(let number) = payload[name] { number } else { nil }
  }

  /// Takes one apart. Nothing in it is proven before its signature is verified.
  ///
  /// - Throws: ``OAuthError/badAnswer(_:)`` for anything but three parts of base64url, the first two of
  ///   them JSON objects without members twice.
  package init(_ text: String) throws(OAuthError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = Base64.decodeURL(parts[0]),
      let payload = Base64.decodeURL(parts[1]), let signature = Base64.decodeURL(parts[2]),
      !signature.isEmpty
    else { throw .badAnswer("no compact JWS") }
    do throws(JSONError) {
      self.header = try JSONValue.parse(header)
      self.payload = try JSONValue.parse(payload)
    } catch {
      throw .badAnswer("no JSON in a JWS")
    }
    guard case .object = self.header, case .object = self.payload else {
      throw .badAnswer("no JSON object in a JWS")
    }
    self.signature = signature
    signed = Array((parts[0] + "." + parts[1]).utf8)
  }

  /// Makes one.
  ///
  /// - Parameter sign: Gives the raw signature of JWS; for ES256, 64 bytes R‖S.
  static func make(
    _ header: JSONValue, _ payload: JSONValue, _ sign: RequestSigner.Sign
  ) throws(OAuthError) -> String {
    let signed =
      Base64.encodeURL(Array(header.text.utf8)) + "." + Base64.encodeURL(Array(payload.text.utf8))
    let signature = try Array(signed.utf8).withBytes { bytes throws(OAuthError) in
      try sign(bytes)
    }
    return signed + "." + Base64.encodeURL(signature)
  }
}
