import Foundation
import Synchronization

/// An OAuth server that others wrote, running on a loopback address. `Tests/Peers` starts it, and it
/// ends, with all that it left, when this process does.
final class Peer: Sendable {
  struct Missing: Error, CustomStringConvertible { var description: String }

  /// A registration at the peer.
  struct Client: Sendable {
    let id: String
    let secret: String?
  }

  enum Kind: String, Sendable, CaseIterable {
    case glewlwyd
    case toolkit
    case oauth1
    case mock
    case proxy = "fault_proxy"
  }

  private struct Pipes {
    let process: Process
    let input: FileHandle
    let output: FileHandle
    var rest = Data()
  }

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
  static let folder = root + "/Tests/Peers"
  /// The interpreter with what `Tests/Peers/requirements.txt` names.
  static let python = root + "/.build/peers/bin/python"

  let kind: Kind
  let address: String
  private let description: Mutex<[String: String]>
  private let pipes: Mutex<Pipes>

  /// Starts one, and waits until it answers.
  ///
  /// - Parameter place: Where it makes its folder.
  /// - Throws: ``Missing``, which says how to get it, where it is not installed.
  init(_ kind: Kind, _ options: String..., place: String = NSTemporaryDirectory()) throws {
    guard FileManager.default.isExecutableFile(atPath: Self.python) else {
      throw Missing(description: "\(Self.python) is not there: Scripts/setup --tests")
    }
    self.kind = kind
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    process.executableURL = URL(filePath: Self.python)
    process.arguments = ["-W", "ignore", "\(Self.folder)/\(kind.rawValue).py"] + options
    process.environment = [
      "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent",
      "TMPDIR": place,
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var started = Pipes(
      process: process, input: input.fileHandleForWriting, output: output.fileHandleForReading)
    guard let line = Self.line(&started) else {
      throw Missing(description: "\(kind.rawValue) did not start: Scripts/setup --tests")
    }
    let told = try JSONReply(line)
    address = told["address"].text ?? ""
    description = Mutex(["": line])
    pipes = Mutex(started)
  }

  deinit { pipes.withLock { Self.stop($0) } }

  /// Closes its input and waits for its end, which is when its folder is gone.
  func stop() { pipes.withLock { Self.stop($0) } }

  private static func stop(_ pipes: Pipes) {
    try? pipes.input.close()
    pipes.process.waitUntilExit()
  }

  var processIdentifier: Int32 { pipes.withLock { $0.process.processIdentifier } }

  /// What it said of itself.
  func told() throws -> JSONReply { try description.withLock { try JSONReply($0[""] ?? "") } }

  /// The address of an endpoint, such as `token`, of one of its servers.
  func endpoint(_ name: String, of server: String = "plain") throws -> String {
    guard let address = try told()["servers"][server][name].text else {
      throw Missing(description: "\(kind.rawValue) has no \(name)")
    }
    return address
  }

  func client(_ id: String) throws -> Client {
    let clients = try told()["clients"].list
    guard let client = clients.first(where: { $0["client_id"].text == id }) else {
      throw Missing(description: "\(kind.rawValue) has no client \(id)")
    }
    return Client(id: id, secret: client["client_secret"].text)
  }

  /// The person: name and password.
  func person() throws -> (name: String, password: String) {
    let person = try told()["users"][0]
    return (person["name"].text ?? "", person["password"].text ?? "")
  }

  /// Asks it for something; see its `questions`.
  @discardableResult
  func ask(_ name: String, _ members: [String: Any] = [:]) throws -> JSONReply {
    var question = members
    question["ask"] = name
    var data = try JSONSerialization.data(withJSONObject: question)
    data.append(0x0a)
    let line = try pipes.withLock { [data] pipes in
      try pipes.input.write(contentsOf: data)
      return Self.line(&pipes)
    }
    guard let line else {
      throw Missing(description: "\(kind.rawValue) ended when it was asked for \(name)")
    }
    return try JSONReply(line)
  }

  /// The next line of its output, nil at the end.
  private static func line(_ pipes: inout Pipes) -> String? {
    while true {
      if let end = pipes.rest.firstIndex(of: 0x0a) {
        let line = String(decoding: pipes.rest[..<end], as: UTF8.self)
        pipes.rest = Data(pipes.rest[pipes.rest.index(after: end)...])
        return line
      }
      let more = pipes.output.availableData
      if more.isEmpty { return nil }
      pipes.rest += more
    }
  }
}

extension Peer {
  var port: Int { Int(address.split(separator: ":").last ?? "") ?? 0 }

  /// A token response for the person, got with the password: for what does not care how.
  func tokens(
    for id: String, scope: String = "read write", server: String = "plain"
  ) throws -> JSONReply {
    let client = try client(id)
    let person = try person()
    let reply = try Curl.send(
      endpoint("token", of: server),
      form: [
        "grant_type": "password", "username": person.name, "password": person.password,
        "scope": scope, "client_id": id,
      ], basic: client.secret == nil ? nil : client)
    guard reply.status == 200 else { throw Missing(description: "\(kind.rawValue): \(reply)") }
    return try reply.json()
  }

  /// Spends a refresh token beside the vault.
  func refresh(_ token: String, for id: String, server: String = "plain") throws -> Curl.Reply {
    let client = try client(id)
    return try Curl.send(
      endpoint("token", of: server),
      form: ["grant_type": "refresh_token", "client_id": id, "refresh_token": token],
      basic: client.secret == nil ? nil : client)
  }

  /// Whether a token is alive, by introspection as the confidential client.
  func isActive(_ token: String, server: String = "plain") throws -> Bool {
    let reply = try Curl.send(
      endpoint("introspect", of: server), form: ["token": token],
      basic: client("confidential"))
    guard reply.status == 200, let active = try reply.json()["active"].bool else {
      throw Missing(description: "\(kind.rawValue): introspection says \(reply)")
    }
    return active
  }
}
