import Foundation
import TestSupport
import Testing

/// What the agent counts, as Prometheus's own library reads it.
@Suite(.serialized) struct `The agent's metrics` {
  private struct Sample: Decodable {
    let family: String
    let type: String
    let name: String
    let labels: [String: String]
    let value: Double
  }

  /// Asks the agent and takes the answer apart, in Python.
  ///
  /// - Returns: The samples, and the text that was parsed.
  private func scrape(_ home: VaultHome, _ socket: String) throws -> ([Sample], String) {
    let script = """
      import http.client, json, socket, sys
      from prometheus_client.parser import text_string_to_metric_families
      class Connection(http.client.HTTPConnection):
          def connect(self):
              self.sock = socket.socket(socket.AF_UNIX)
              self.sock.settimeout(60)
              self.sock.connect(sys.argv[1])
      connection = Connection("vault")
      connection.request("GET", "/v1/metrics")
      reply = connection.getresponse()
      text = reply.read().decode()
      assert reply.status == 200, text
      assert reply.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
      samples = [
          {"family": family.name, "type": family.type, "name": sample.name,
           "labels": sample.labels, "value": sample.value}
          for family in text_string_to_metric_families(text) for sample in family.samples
      ]
      print(json.dumps({"samples": samples, "text": text}))
      """
    guard FileManager.default.isExecutableFile(atPath: Peer.python) else {
      throw Peer.Missing(description: "\(Peer.python) is not there: Scripts/setup --tests")
    }
    let ended = try Running(
      Peer.python, ["-c", script, socket],
      environment: [
        "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1",
      ]
    ).end()
    try #require(ended.status == 0, "\(ended)")
    struct Scrape: Decodable {
      let samples: [Sample]
      let text: String
    }
    let scrape = try JSONDecoder().decode(Scrape.self, from: Data(ended.output.utf8))
    return (scrape.samples, scrape.text)
  }

  @Test func `are read by Prometheus's own parser, move, and name nobody`() throws {
    let home = try VaultHome()
    try home.must(
      [
        "add-client", "--type", "facebook", "--client-id", "client-canary", "--client-secret-stdin",
      ],
      input: "secret-canary\n")
    try home.must(
      [
        "add-account", "--type", "facebook", "--username", "username-canary", "--client",
        "client-canary", "--response", "-",
      ],
      input:
        #"{"access_token":"token-canary","token_type":"bearer","expires_in":5183944}"#)
    let key = try #require(
      home.must(["add-app", "app-canary", "--name", "Name-canary", "--json"]).json()["key"].text)
    try home.must(["grant", "--app", "app-canary", "--perms", "email"])
    try FileManager.default.createDirectory(
      atPath: home.directory("run"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    home.environment["XDG_RUNTIME_DIR"] = home.directory("run")
    let apps = home.directory("apps.sock")
    let agent = try home.start(["agent", "--apps-socket", apps])
    defer { agent.kill() }
    let vaults = home.directory("run/vault")
    let owner = try agent.waiting(for: "a socket") { agent -> String? in
      guard agent.errors.contains(" ready ") else { return nil }
      return try FileManager.default.contentsOfDirectory(atPath: vaults)
        .map { "\(vaults)/\($0)/owner.sock" }.first { FileManager.default.fileExists(atPath: $0) }
    }
    func value(_ samples: [Sample], _ name: String, _ labels: [String: String] = [:]) -> Double? {
      let found = samples.filter { $0.name == name && $0.labels == labels }
      return found.count == 1 ? found[0].value : nil
    }
    func token(_ permissions: String, key: String) throws -> String {
      try Running(
        "/usr/bin/curl",
        [
          "-sS", "--unix-socket", apps, "-H", "Authorization: Bearer \(key)", "-H",
          "Content-Type: application/json", "-d", #"{"permissions":["\#(permissions)"]}"#,
          "http://vault/v1/token",
        ],
        environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
      ).end().output
    }
    let (first, _) = try scrape(home, owner)
    #expect(value(first, "vault_agent_unlocked") == 1)
    #expect(value(first, "vault_agent_credentials", ["state": "valid"]) == 1)
    #expect(value(first, "vault_agent_connections", ["socket": "owner"]) == 1)
    let given = try token("email", key: key)
    #expect(given.contains("token-canary"), "\(given)")
    let refused = try token("user_birthday", key: key)
    #expect(refused.contains(#""code":"never_asked""#), "\(refused)")
    let unknown = try token("email", key: "vapp_key-canary")
    #expect(unknown.contains(#""code":"wrong_key""#), "\(unknown)")
    let (second, text) = try scrape(home, owner)
    for (name, labels, change) in [
      ("vault_agent_hand_outs_total", ["kind": "token"], 1.0),
      ("vault_agent_refusals_total", ["code": "never_asked"], 1),
      ("vault_agent_refusals_total", ["code": "wrong_key"], 1),
      ("vault_agent_connections_total", ["socket": "apps", "admitted": "yes"], 3),
    ] {
      let before = try #require(value(first, name, labels), "\(name)")
      #expect(value(second, name, labels) == before + change, "\(name) \(labels)")
    }
    let status200 = ["socket": "apps", "path": "/v1/token", "status": "200"]
    #expect(value(second, "vault_agent_requests_total", status200) == 1)
    let scrapes = ["socket": "owner", "path": "/v1/metrics", "status": "200"]
    #expect(value(second, "vault_agent_requests_total", scrapes) == 1)
    let entries = try #require(value(first, "vault_agent_ledger_entries_total"))
    #expect(value(second, "vault_agent_ledger_entries_total") ?? 0 > entries)
    let memory = try #require(value(second, "process_resident_memory_bytes"))
    #expect(memory > 1e6 && memory < 1e9)
    #expect(value(second, "process_open_fds") ?? 0 > 5)
    let started = try #require(value(second, "process_start_time_seconds"))
    #expect(abs(started - Date().timeIntervalSince1970) < 600)
    // Each family has a type, and a counter the name of one.
    for sample in second {
      #expect(["counter", "gauge"].contains(sample.type), "\(sample.name)")
      if sample.type == "counter" { #expect(sample.name.hasSuffix("_total"), "\(sample.name)") }
    }
    for secret in ["canary", key, "vapp_", "facebook"] {
      #expect(!text.contains(secret), "\(secret)")
    }
    // Locked, it tells nothing of what the vault holds.
    try home.must(["lock"])
    let (locked, _) = try scrape(home, owner)
    #expect(value(locked, "vault_agent_unlocked") == 0)
    #expect(!locked.contains { $0.family.hasPrefix("vault_agent_credentials") })
    #expect(!locked.contains { $0.family.hasPrefix("vault_agent_ledger") })
  }
}
