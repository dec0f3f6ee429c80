import Foundation
import HTTP
import HTTPTypes
import Sodium
import TestSupport
import Testing

/// nginx with HTTP/2 over TLS. A reply tells the protocol and the connection's number.
private final class Nginx {
  let port: Int
  let certificates: Certificates
  private let directory: TemporaryDirectory
  private let process: Process

  /// - Parameter requests: After so many it ends a connection.
  init(requests: Int) async throws {
    certificates = try Certificates.shared.get()
    for _ in 0..<10 {
      let directory = try TemporaryDirectory()
      let port = try Self.port()
      let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map { "\($0)_temp_path \(directory($0));" }.joined(separator: " ")
      try Data(
        """
        daemon off; master_process off; error_log \(directory("errors")); pid \(directory("pid"));
        events { worker_connections 512; }
        http { access_log off; keepalive_requests \(requests); \(temporary)
          server { listen 127.0.0.1:\(port) ssl http2;
            ssl_certificate \(certificates.directory("good.pem"));
            ssl_certificate_key \(certificates.directory("good.key"));
            location / { return 200 "$server_protocol $connection"; } } }
        """.utf8
      ).write(to: URL(filePath: directory("nginx.conf")))
      let process = Process()
      process.executableURL = URL(filePath: "/usr/sbin/nginx")
      process.arguments = ["-c", directory("nginx.conf"), "-p", directory.path]
      process.standardError = FileHandle.nullDevice
      try process.run()
      // It writes its number once it listens, and ends where the port was taken meanwhile.
      while process.isRunning, !FileManager.default.fileExists(atPath: directory("pid")) {
        try await Task.sleep(for: .milliseconds(5))
      }
      if process.isRunning {
        (self.port, self.directory, self.process) = (port, directory, process)
        return
      }
    }
    throw Unexpected(text: "nginx does not start")
  }

  deinit {
    // Not SIGTERM, which a child of a thread of the pool inherits as blocked.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  var url: String { "https://localhost:\(port)/" }

  var client: HTTPClient {
    let authority = certificates.authority
    return HTTPClient(
      version: "1", environment: HTTPEnvironment { $0 == "SSL_CERT_FILE" ? authority : nil })
  }

  private static func port() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
      }
    }
    try #require(isBound)
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

@Suite(.timeLimit(.minutes(2))) struct `HTTP/2` {
  /// What ended, by its text.
  private func send(
    _ count: Int, _ method: String, to url: String, by client: HTTPClient
  ) async -> [Result<String, HTTPFailure>] {
    await withTaskGroup(of: Result<String, HTTPFailure>.self) { group in
      for _ in 0..<count {
        group.addTask {
          do throws(HTTPFailure) {
            return .success(try await client.send(HTTPRequest(method, url)).body.string)
          } catch {
            return .failure(error)
          }
        }
      }
      var all: [Result<String, HTTPFailure>] = []
      for await end in group { all.append(end) }
      return all
    }
  }

  @Test func `carries many requests at once over one connection`() async throws {
    let nginx = try await Nginx(requests: 100_000)
    let ends = await send(200, "POST", to: nginx.url, by: nginx.client)
    let texts = try Set(ends.map { try $0.get() })
    #expect(texts.count == 1)
    #expect(texts.first?.hasPrefix("HTTP/2.0 ") == true)
  }

  @Test func `that the server ends goes on over another connection for reading`() async throws {
    let nginx = try await Nginx(requests: 20)
    let client = nginx.client
    var connections: Set<String> = []
    // One after the other: the end of a connection is told with a reply.
    for _ in 0..<100 {
      let reply = try await client.send(HTTPRequest("POST", nginx.url))
      connections.insert(reply.body.string)
    }
    #expect(connections.count >= 5)
    // At once, some streams are refused with it. Nothing else comes of it than a failure that says so.
    for end in await send(200, "POST", to: nginx.url, by: client) {
      if case .failure(let failure) = end {
        #expect(failure.kind == .broken && failure.mayHaveBeenSent)
      }
    }
  }
}
