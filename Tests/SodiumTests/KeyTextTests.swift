import Encoding
import Foundation
import Sodium
import Testing

@Suite struct `A key as text` {
  static let form = KeyText(prefix: "vtst_", checkLabel: "vault/test/check/1")

  static func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  @Test func `is prefix, base32 of key and check, and nothing more`() throws {
    let form = `A key as text`.form
    let key = SecretBytes.random(count: 32)
    let text = `A key as text`.bytes(form.text(of: key))
    #expect(text.count == form.textCount)
    #expect(text.starts(with: Array("vtst_".utf8)))
    let decoded = try Base32.decode(String(decoding: text.dropFirst(5), as: UTF8.self))
    let raw = `A key as text`.bytes(key)
    #expect(Array(decoded[..<32]) == raw)
  }

  @Test func `of another kind is mistyped, not taken for this one`() throws {
    let other = KeyText(prefix: "vtst_", checkLabel: "vault/test/check/2")
    let text = other.text(of: SecretBytes.random(count: 32))
    #expect(throws: KeyText.Fault.mistyped) { _ = try `A key as text`.form.key(of: text) }
  }
}
