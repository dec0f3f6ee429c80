package import Sodium

/// What a server answers to the beginning of a device grant (RFC 8628 section 3.2), and to that of
/// Facebook's device flow, which is older and names some members otherwise.
package struct DeviceAuthorization: ~Copyable, Sendable {
  /// What is polled with. Whoever has it gets the token.
  package let deviceCode: SecretBytes
  /// What the person types at ``address``.
  package let userCode: String
  package let address: String
  /// The address with the code in it, for a QR code; the code is shown all the same (section 3.3.1).
  package let completeAddress: String?
  /// Seconds that both codes live.
  package let lifetime: Int64
  /// Seconds between two polls, at least 1.
  package let interval: Int64

  /// Reads an answer.
  ///
  /// - Throws: ``OAuthError/badAnswer(_:)`` for one without codes or address, with a code that no
  ///   person could type, or with an address that is neither https nor of this machine.
  package init(_ body: RawSpan) throws(OAuthError) {
    let answer = try EndpointAnswer(body)
    // Facebook's name for it is `code`.
    var code = try answer.secret("device_code")
    if code == nil { code = try answer.secret("code") }
    guard let code else { throw .badAnswer("no device_code") }
    guard let userCode = try answer.text("user_code"), userCode.utf8.count <= 64,
      userCode.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { throw .badAnswer("no user_code") }
    // Google's name for it is `verification_url`.
    guard let address = try answer.text("verification_uri", "verification_url") else {
      throw .badAnswer("no verification_uri")
    }
    let complete = try answer.text("verification_uri_complete", "verification_url_complete")
    for address in [address, complete].compactMap({ $0 }) {
      guard let url = try? RequestURL(address), url.isPrivate else {
        throw .badAnswer("a verification_uri without TLS")
      }
    }
    let lifetime = try answer.number("expires_in")
    let interval = try answer.number("interval")
    deviceCode = code
    self.userCode = userCode
    self.address = address
    completeAddress = complete
    // Required by the RFC; a server that leaves it out is asked no longer than its codes could live.
    self.lifetime = lifetime ?? 900
    self.interval = max(1, min(interval ?? 5, 300))
  }

  /// The interval that an answer to a poll asks for; nil where it names none.
  package static func interval(ofAnswer body: RawSpan) -> Int64? {
    guard let answer = try? EndpointAnswer(body), let found = try? answer.number("interval") else {
      return nil
    }
    return found
  }
}
