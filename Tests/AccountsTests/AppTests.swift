import Encoding
import Sodium
import Testing
import Time

@testable import Accounts

@Suite struct `An app` {
  @Test(arguments: ["1", "123", "cron.job_1-A", String(repeating: "x", count: 128)])
  func `may have this id`(_ id: String) {
    #expect(App.isID(id))
  }

  @Test(
    arguments: ["", String(repeating: "x", count: 129), "a b", "a/b", "ä", "a\n", "a:b", "a,b"])
  func `may not have this id`(_ id: String) {
    #expect(!App.isID(id))
  }

  @Test func `uses its own client for a type and no other`() {
    let app = App(
      id: "1", name: "", clients: [.init(type: "x", clientID: "9")],
      createdAt: Timestamp(seconds: 0))
    #expect(app.client(for: "x")?.description == "x:9")
    #expect(app.client(for: "facebook") == nil)
    #expect(!app.hasKey)
  }
}

@Suite struct `A client reference` {
  @Test func `is split at the first colon`() {
    #expect(ClientReference("x:9:8") == ClientReference(type: "x", clientID: "9:8"))
    #expect(ClientReference("x") == nil)
    #expect(ClientReference("x:") == nil)
    #expect(ClientReference(":9") == nil)
  }
}

@Suite struct `An app key` {
  static func secret(_ text: String) -> SecretBytes {
    `A credential's secret`.secret(text)
  }

  static func text(_ key: borrowing AppKey) -> String {
    `A credential's secret`.text(key.text())
  }

  static func sample() -> AppKey {
    AppKey(key: SecretBytes(count: 32))
  }

  @Test func `is a prefix and base32 of key and check`() {
    let text = `An app key`.text(`An app key`.sample())
    #expect(text.utf8.count == 61)
    #expect(text.hasPrefix("vapp_" + String(repeating: "a", count: 51)))
    let key = [UInt8](repeating: 0, count: 32)
    let label = Array("vault/app-key/check/1".utf8)
    let check = BLAKE2b.digest32(key.span.bytes, key: label.span.bytes).bytes[..<3]
    #expect(text == "vapp_" + Base32.encode(key + check))
  }

  @Test func `is read as it was written and has one hash`() throws {
    let vaultKey = SecretBytes(count: 32)
    for _ in 0..<50 {
      let key = AppKey.random()
      let read = try AppKey(parsing: key.text())
      let same = `An app key`.text(read) == `An app key`.text(key)
      #expect(same)
      let hashes = (read.hash(under: vaultKey), key.hash(under: vaultKey))
      #expect(hashes.0 == hashes.1)
      let other = key.hash(under: SecretBytes.random(count: 32))
      #expect(hashes.0 != other)
    }
  }

  @Test func `with one character wrong is mistyped`() {
    let text = Array(`An app key`.text(`An app key`.sample()).utf8)
    for place in 5..<text.count {
      var typed = text
      typed[place] = typed[place] == UInt8(ascii: "q") ? UInt8(ascii: "r") : UInt8(ascii: "q")
      #expect(throws: KeyText.Fault.mistyped) {
        _ = try AppKey(parsing: `An app key`.secret(String(decoding: typed, as: UTF8.self)))
      }
    }
  }

  @Test(arguments: ["", "vapp_", "vapq_", "VAPP_"])
  func `of another form is no key`(_ prefix: String) {
    let text = `An app key`.text(`An app key`.sample())
    let others = [
      prefix, prefix == "vapp_" ? text + "a" : prefix + text.dropFirst(5),
      text.replacing("vapp_a", with: "vapp_A"), text.replacing("vapp_a", with: "vapp_1"),
    ]
    for other in others {
      #expect(throws: KeyText.Fault.notAKey) {
        _ = try AppKey(parsing: `An app key`.secret(other))
      }
    }
  }
}
