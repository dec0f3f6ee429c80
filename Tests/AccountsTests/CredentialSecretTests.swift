import Sodium
import Testing

@testable import Accounts

@Suite struct `A credential's secret` {
  static func secret(_ text: String) -> SecretBytes {
    var bytes = Array(text.utf8)
    return SecretBytes(wiping: &bytes)
  }

  static func text(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { span in
      String(decoding: span.withUnsafeBytes { Array($0) }, as: UTF8.self)
    }
  }

  static func text(ofOptional secret: borrowing SecretBytes?) -> String? {
    switch secret {
    case .some(let secret): text(secret)
    case .none: nil
    }
  }

  @Test func `is unpacked as it was packed`() throws {
    let secret = CredentialSecret(
      accessToken: `A credential's secret`.secret("access"),
      refreshToken: `A credential's secret`.secret("refresh"),
      tokenSecret: `A credential's secret`.secret(""))
    let packed = secret.packed()
    #expect(packed.count == 256)
    let unpacked = try CredentialSecret(unpacking: packed)
    let access = `A credential's secret`.text(unpacked.accessToken)
    #expect(access == "access")
    let refresh = `A credential's secret`.text(ofOptional: unpacked.refreshToken)
    #expect(refresh == "refresh")
    let tokenSecret = `A credential's secret`.text(ofOptional: unpacked.tokenSecret)
    #expect(tokenSecret == "")
  }

  @Test func `may be an access token alone`() throws {
    let secret = CredentialSecret(accessToken: `A credential's secret`.secret("a"))
    let unpacked = try CredentialSecret(unpacking: secret.packed())
    let refresh = `A credential's secret`.text(ofOptional: unpacked.refreshToken)
    #expect(refresh == nil)
    let tokenSecret = `A credential's secret`.text(ofOptional: unpacked.tokenSecret)
    #expect(tokenSecret == nil)
  }

  @Test func `has the length of many others`() {
    let short = CredentialSecret(accessToken: `A credential's secret`.secret("a")).packed().count
    let long = CredentialSecret(
      accessToken: `A credential's secret`.secret(String(repeating: "a", count: 300))
    ).packed().count
    #expect(short == 256)
    #expect(long == 512)
  }

  @Test func `with a field that nobody knows, or without an access token, is refused`() {
    var writer = SecretWriter(capacity: 20)
    writer.field(1, `A credential's secret`.secret("a"))
    writer.field(5, `A credential's secret`.secret("b"))
    var unknown = writer.finish()
    unknown.pad(block: 256)
    #expect(throws: SodiumError.badEncoding) {
      _ = try CredentialSecret(unpacking: unknown.copy())
    }
    var other = SecretWriter(capacity: 20)
    other.field(2, `A credential's secret`.secret("b"))
    var headless = other.finish()
    headless.pad(block: 256)
    #expect(throws: SodiumError.badEncoding) {
      _ = try CredentialSecret(unpacking: headless.copy())
    }
    #expect(throws: SodiumError.self) {
      _ = try CredentialSecret(unpacking: SecretBytes(count: 256))
    }
  }
}
