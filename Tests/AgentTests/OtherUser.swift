import Foundation
import TestSupport
import Testing

/// Programs that run as another user of the machine than the agent.
struct OtherUser {
  /// `nobody`; of no group but his own.
  static let nobody = OtherUser(65534)
  static let stranger = OtherUser(65533)

  let id: Int
  var groups: [Int] = []

  init(_ id: Int, groups: [Int] = []) {
    self.id = id
    self.groups = groups
  }

  /// What stands before a program and its arguments.
  var prefix: [String] {
    let groups =
      groups.isEmpty
      ? ["--clear-groups"] : ["--groups", groups.map { "\($0)" }.joined(separator: ",")]
    return ["/usr/bin/setpriv", "--reuid", "\(id)", "--regid", "\(id)", "--no-new-privs"] + groups
  }

  /// Only root can become another user.
  static func required(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    try #require(
      geteuid() == 0, "another user is needed, which only root can become: run this test as root",
      sourceLocation: sourceLocation)
  }

  func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
    let all = prefix + arguments
    return try AgentHome.run(all[0], Array(all.dropFirst()), ["PATH": "/usr/bin:/bin"])
  }

  /// Connects, sends what is given, and tells what became of it: `refused` where the file lets nobody
  /// in, else what came until the other side closed.
  func talk(_ socket: String, _ bytes: String) throws -> String {
    let ended = try run([
      "/usr/bin/python3", "-c",
      """
      import socket, sys
      s = socket.socket(socket.AF_UNIX)
      s.settimeout(60)
      try:
          s.connect(sys.argv[1])
      except PermissionError:
          sys.exit("refused")
      got = b""
      try:
          s.sendall(sys.argv[2].encode())
          while piece := s.recv(65536):
              got += piece
      except (BrokenPipeError, ConnectionResetError):
          pass
      sys.stdout.write(got.decode())
      """, socket, bytes,
    ])
    return ended.text.trimmingCharacters(in: .newlines)
  }

  /// One request of an app, whose key stands in a file that this user may read.
  func ask(_ socket: String, keyFile: String, _ path: String = "/v1/app") throws -> String {
    try run([
      "/usr/bin/python3", "-c",
      """
      import http.client, socket, sys
      c = http.client.HTTPConnection("vault")
      c.sock = socket.socket(socket.AF_UNIX)
      c.sock.settimeout(60)
      try:
          c.sock.connect(sys.argv[1])
      except PermissionError:
          sys.exit("refused")
      c.request("GET", sys.argv[3], headers={"Authorization": "Bearer " + open(sys.argv[2]).read().strip()})
      answer = c.getresponse()
      print(answer.status, answer.read().decode().strip())
      """, socket, keyFile, path,
    ]).text.trimmingCharacters(in: .newlines)
  }

  /// A directory that everybody may read, in one that lets everybody pass.
  static func openDirectory(_ name: String, in directory: TemporaryDirectory) throws -> String {
    chmod(directory.path, 0o711)
    try FileManager.default.createDirectory(
      atPath: directory(name), withIntermediateDirectories: false)
    chmod(directory(name), 0o755)
    return directory(name)
  }

  /// Hands a file to this user.
  func own(_ path: String) throws {
    try #require(chown(path, uid_t(id), gid_t(id)) == 0)
  }
}
