import AccountVaultClient
import Foundation
import TestSupport
import Testing

@Suite struct `An app key` {
  @Test(arguments: ["", "\n", "vapp_a b", "vapp_a\r\nX: y", "vapp_\u{e9}"])
  func `that cannot be one is refused before it is sent`(text: String) {
    var bytes = Array(text.utf8)
    do throws(AgentError) {
      _ = try AppKey(wiping: &bytes)
      Issue.record("a key")
    } catch {
      #expect(error.code == .config)
    }
    #expect(bytes.isEmpty)
  }

  @Test func `is read from a file, without what ends its line`() throws {
    let directory = try TemporaryDirectory()
    try "vapp_abc\r\n".write(toFile: directory("key"), atomically: false, encoding: .utf8)
    _ = try AppKey(contentsOf: directory("key"))
    do throws(AgentError) {
      _ = try AppKey(contentsOf: directory("none"))
      Issue.record("a key")
    } catch {
      #expect(error.code == .config && error.message.contains(directory("none")))
    }
  }
}
