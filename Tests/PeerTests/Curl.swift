import Foundation

/// Another HTTP client, by which the tests see what a server thinks.
enum Curl {
  struct Reply: Sendable, CustomStringConvertible {
    let status: Int
    /// Where a redirect leads to.
    let location: String
    /// The nonce for the next DPoP proof, empty where there is none.
    let nonce: String
    let body: String

    func json() throws -> JSONReply { try JSONReply(whole: body) }
    var description: String { "\(status) \(location) \(body)" }
  }

  /// Sends a form, or asks with GET where there is none.
  static func send(
    _ url: String, form: KeyValuePairs<String, String>? = nil, basic: Peer.Client? = nil,
    headers: [String] = []
  ) throws -> Reply {
    var arguments: [String] = []
    for (name, value) in form ?? [:] { arguments += ["--data-urlencode", "\(name)=\(value)"] }
    if let form, form.isEmpty { arguments += ["--data", ""] }
    if let basic { arguments += ["--user", "\(basic.id):\(basic.secret ?? "")"] }
    return try run(url, arguments, headers)
  }

  /// Sends a form that is encoded already.
  static func send(
    _ url: String, body: String?, method: String, headers: [String]
  ) throws -> Reply {
    var arguments = ["--request", method]
    if let body { arguments += ["--data-raw", body] }
    return try run(url, arguments, headers)
  }

  private static func run(
    _ url: String, _ arguments: [String], _ headers: [String]
  ) throws -> Reply {
    let mark = "curl-\(UUID().uuidString)"
    var arguments =
      [
        "--silent", "--show-error", "--noproxy", "*", "--max-time", "60",
        "--write-out", "\n\(mark)\n%{http_code}\n%{redirect_url}\n%header{dpop-nonce}",
      ] + arguments
    for header in headers { arguments += ["--header", header] }
    let ended = try Running(
      "/usr/bin/curl", arguments + [url],
      environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
    ).end()
    guard ended.status == 0, let end = ended.output.range(of: "\n\(mark)\n")
    else {
      throw Running.Failed(description: "curl \(url): \(ended.status) \(ended.errors)")
    }
    let lines = ended.output[end.upperBound...].split(
      separator: "\n", omittingEmptySubsequences: false)
    return Reply(
      status: Int(lines[0]) ?? 0, location: String(lines[1]), nonce: String(lines[2]),
      body: String(ended.output[..<end.lowerBound]))
  }
}
