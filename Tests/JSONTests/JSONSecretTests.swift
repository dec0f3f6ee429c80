import Foundation
import JSON
import Sodium
import TestSupport
import Testing

@Suite struct `A secret in a JSON text` {
  @Test(arguments: [48, 1200])
  func `is in memory only as long as the document and what was read from it`(
    _ size: Int
  ) async throws {
    // In a process of its own, so that no other test's buffers are searched.
    await #expect(processExitsWith: .success) { [size] in
      let canary = Canary()
      let head = Array(#"{"expires_in":3600,"a":["x\n"],"access_token":""#.utf8)
      var response = head + [UInt8](repeating: 0, count: size) + Array("\"}".utf8)
      canary.fill(&response, head.count..<head.count + size)
      for _ in 0..<3 {
        let text = try JSONText(response.span.bytes)
        guard let node = try text.member(text.root, "access_token"),
          let secret = text.secret(node)
        else { exit(2) }
        // The response, the document and the secret.
        guard try canary.occurrences() >= 3 else { exit(3) }
        guard secret.count == size, text.string(text.root) == nil else { exit(6) }
      }
      // A text that is refused at its end leaves nothing either.
      response[response.count - 1] = UInt8(ascii: ",")
      do {
        _ = try JSONText(response.span.bytes)
        exit(4)
      } catch {}
      for index in response.indices { response[index] = 0 }
      exit(try canary.occurrences() == 0 ? 0 : 5)
    }
  }
}
