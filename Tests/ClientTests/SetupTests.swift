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

  @Test(arguments: ["vapp_abc", " vapp_abc\n", "Authorization: Bearer vapp_abc\n"])
  func `may stand behind the header that it is shown in`(text: String) async throws {
    let agent = try ScriptedAgent { visitor, _ in
      let head = visitor.head() ?? ""
      let isRight = head.contains("\r\nAuthorization: Bearer vapp_abc\r\n")
      visitor.answer(`A client's connections`.app, status: isRight ? 200 : 500)
    }
    var bytes = Array(text.utf8)
    let client = AgentClient(
      socket: AgentSocket(path: agent.path), key: try AppKey(wiping: &bytes))
    #expect(try await client.app().id == "123")
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
