import Foundation
import HTTP
import HTTPTypes
import Sodium
import Synchronization
import TestSupport
import Testing

extension SharedSecret {
  convenience init(_ text: String) {
    var bytes = Array(text.utf8)
    self.init(SecretBytes(wiping: &bytes))
  }

  var string: String { String(decoding: array, as: UTF8.self) }

  var array: [UInt8] {
    withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
  }
}

/// An authority that is made for one run of the tests, and what it signed.
final class Certificates: Sendable {
  static let shared = Result { try Certificates() }

  let directory: TemporaryDirectory

  var authority: String { directory("ca.pem") }

  private init() throws {
    directory = try TemporaryDirectory()
    try openssl(
      """
      req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ca.key -out ca.pem \
      -subj /CN=Test-Authority
      """)
    try sign("good", "DNS:localhost,IP:127.0.0.1,DNS:provider.test", days: 2)
    try sign("wronghost", "DNS:other.test", days: 2)
    try sign("expired", "DNS:localhost", days: -1)
    try openssl(
      """
      req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout selfsigned.key \
      -out selfsigned.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost
      """)
    // Kept until the process ends, which runs no deinit of what is global.
    atexit {
      if let certificates = try? Certificates.shared.get() {
        try? FileManager.default.removeItem(atPath: certificates.directory.path)
      }
    }
  }

  private func sign(_ name: String, _ names: String, days: Int) throws {
    try openssl(
      """
      req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).csr \
      -subj /CN=\(name)
      """)
    try Data("subjectAltName=\(names)\n".utf8)
      .write(to: URL(filePath: directory("\(name).ext")))
    try openssl(
      """
      x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) \
      -extfile \(name).ext -out \(name).pem
      """)
  }

  private func openssl(_ arguments: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = URL(filePath: directory.path)
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
  }
}

/// `server.py`, which ends when this object does.
final class Server: Sendable {
  struct Seen: Decodable {
    var connections = 0
    var requests: [String] = []
    var bytes = 0
  }

  let certificates: Certificates
  let ports: [String: Int]
  private let process: Process
  private let input: Pipe

  init() throws {
    certificates = try Certificates.shared.get()
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "server.py")
    process.arguments = ["python3", script.path, certificates.directory.path]
    input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line = Data()
    while !line.contains(0x0A) {
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "server.py ended")
      line += more
    }
    ports = try JSONDecoder().decode([String: Int].self, from: line)
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func plain(_ path: String, _ port: String = "plain") -> String {
    "http://127.0.0.1:\(ports[port] ?? 0)\(path)"
  }

  func secure(_ path: String, _ port: String = "secure", host: String = "localhost") -> String {
    "https://\(host):\(ports[port] ?? 0)\(path)"
  }

  /// A client that knows the authority, and what more `variables` say.
  func client(_ variables: [String: String] = [:]) -> HTTPClient {
    let all = ["SSL_CERT_FILE": certificates.authority].merging(variables) { $1 }
    return HTTPClient(version: "1.2.3", environment: HTTPEnvironment { all[$0] })
  }

  /// What came to a port so far.
  func seen(_ port: String) async throws -> Seen {
    let client = HTTPClient(version: "0", environment: HTTPEnvironment { _ in nil })
    let reply = try await client.send(HTTPRequest("GET", plain("/log", "control")))
    let all = try JSONDecoder().decode([String: Seen].self, from: Data(reply.body.array))
    return all[port] ?? Seen()
  }

  /// Waits until that many requests came to a port.
  func wait(for requests: Int, at port: String) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try await seen(port).requests.count < requests {
      try #require(ContinuousClock.now < end, "the request has not come")
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

/// The failure that a request must end with.
func end(
  of client: HTTPClient, _ request: HTTPRequest, to receiver: (any HTTPReceiver)? = nil
) async throws -> HTTPFailure {
  let status: Int
  do throws(HTTPFailure) {
    status = try await client.send(request, to: receiver).status
  } catch {
    return error
  }
  throw Unexpected(text: "status \(status)")
}

struct Unexpected: Error { let text: String }

/// What `/echo` says that it was sent.
struct Echo: Decodable {
  let head: String
  let body: String

  init(_ response: HTTPResponse) throws {
    self = try JSONDecoder().decode(Echo.self, from: Data(response.body.array))
  }

  var lines: [String] { head.components(separatedBy: "\r\n") }

  func values(_ name: String) -> [String] {
    lines.dropFirst().filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
      .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
  }
}

/// Notes all that it is handed.
final class Recorder: HTTPReceiver {
  struct Notes {
    var begins: [Int] = []
    var headers: [String] = []
    var bytes = 0
    var pieces = 0
    var isBodyFirst = false
    var progress: [(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?)] = []
  }

  let notes = Mutex(Notes())
  private let wants: @Sendable (Int) -> Bool
  private let limit: Int

  /// - Parameter limit: Refuses more than that many pieces.
  init(limit: Int = .max, wants: @escaping @Sendable (Int) -> Bool = { _ in true }) {
    self.limit = limit
    self.wants = wants
  }

  func begin(status: Int, headers: [(name: String, value: String)]) -> Bool {
    notes.withLock { notes in
      notes.isBodyFirst = notes.bytes > 0
      notes.begins.append(status)
      notes.headers += headers.map(\.name)
    }
    return wants(status)
  }

  func receive(_ piece: RawSpan) -> Bool {
    let count = piece.byteCount
    return notes.withLock { notes in
      notes.bytes += count
      notes.pieces += 1
      return notes.pieces <= limit
    }
  }

  func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?) {
    notes.withLock { $0.progress.append((sent, ofSent, received, ofReceived)) }
  }
}
