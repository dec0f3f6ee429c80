import HTTP
import HTTPTypes
import Sodium
import Synchronization

/// Requests of a form of 200 bytes, as a renewal is, some at once by a task each.
struct Requests {
  let url: String
  let count: Int
  let atOnce: Int
  /// The file with the certificate that the server's is checked with.
  let authority: String

  /// What a reply must be for the figure to count.
  struct Refused: Error { let status: Int }

  func run() async throws {
    let authority = authority
    let client = HTTPClient(
      version: "bench",
      environment: HTTPEnvironment { $0 == "SSL_CERT_FILE" ? authority : nil })
    let secret = "0123456789abcdef0123456789abcdef"
    let token = String(repeating: "0", count: 100)
    var form = Array(
      "grant_type=refresh_token&client_id=bench&client_secret=\(secret)&refresh_token=\(token)".utf8
    )
    let body = SharedSecret(SecretBytes(wiping: &form))
    let time = Timing()
    let begun = Begun()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<atOnce {
        group.addTask {
          while begun.next() <= count {
            let request = HTTPRequest(
              "POST", url, body: .bytes(body, contentType: "application/x-www-form-urlencoded"))
            let reply = try await client.send(request)
            guard reply.status == 200 else { throw Refused(status: reply.status) }
          }
        }
      }
      try await group.waitForAll()
    }
    time.tell("requests", count: count)
  }

  private final class Begun: Sendable {
    private let number = Atomic(0)
    func next() -> Int { number.add(1, ordering: .relaxed).newValue }
  }
}
