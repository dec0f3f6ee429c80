import Foundation
import Testing

@testable import Command

/// Secrets and names that stand nowhere else are put through every command and error, and looked for
/// in all that comes out and all that is written.
@Suite struct `A secret and a name` {
  private struct Canaries {
    private(set) var all: [(name: String, value: String)] = []

    mutating func make(_ name: String) -> String {
      // A slash and a plus, so that an escaped form differs from the plain one.
      let letters = "abcdefghijklmnopqrstuvwxyz0123456789"
      let value = "Cny" + String((0..<20).map { _ in letters.randomElement()! }) + "Zq"
      all.append((name, value))
      return value
    }
  }

  /// The forms in which a value may have been written down.
  private static func forms(_ value: String) -> [Data] {
    let bytes = Array(value.utf8)
    let hex = bytes.map { String(format: "%02x", $0) }.joined()
    let percent = bytes.map { String(format: "%%%02X", $0) }.joined()
    let json = bytes.map { String(format: "\\u%04x", $0) }.joined()
    var texts = [value, hex, hex.uppercased(), percent, percent.lowercased(), json]
    // In base64 the text looks different at each of three offsets; its ends depend on neighbours.
    for offset in 0..<3 {
      let shifted = Data(Array(repeating: 0x20, count: offset) + bytes)
      let text = shifted.base64EncodedString().filter { $0 != "=" }
      texts.append(String(text.dropFirst(4).dropLast(4)))
    }
    texts.append(String(value.reversed()))
    return texts.map { Data($0.utf8) }
  }

  @Test func `stand in no output and no file where they do not belong`() throws {
    var secrets = Canaries()
    var names = Canaries()
    let vault = try ScratchVault()
    let files = vault.directory
    var outputs: [(call: String, output: Data, error: Data, isHandOut: Bool)] = []

    func run(_ arguments: [String], input: String = "", handsOut: Bool = false) throws {
      for json in [false, true] {
        let line = arguments + ["--verbose"] + (json ? ["--json"] : [])
        let ended = try vault.run(line, input: input)
        outputs.append(
          (
            arguments.joined(separator: " "), Data(ended.output.utf8), Data(ended.error.utf8),
            handsOut
          ))
      }
    }

    let username = names.make("username")
    let apps = (0..<4).map { _ in names.make("app") }
    let appName = names.make("app's name")
    let description = names.make("description")
    let client = names.make("client id")
    let reason = names.make("reason")
    let scope = names.make("scope")
    // Everything a provider can send, in both protocols and both forms.
    for (type, kind) in [("facebook", 0), ("x", 1), ("weibo", 2), ("facebook", 3)] {
      let access = secrets.make("access token")
      let refresh = secrets.make("refresh token")
      let id = secrets.make("id token")
      let json =
        #"{"access_token":"\#(access)","refresh_token":"\#(refresh)","id_token":"\#(id)","#
        + #""token_type":"bearer","expires_in":5183944,"scope":"email \#(scope)","uid":"\#(kind)"}"#
      let form = "access_token=\(access)&refresh_token=\(refresh)&expires_in=5000&scope=email"
      try run(
        [
          "add-account", "--type", type, "--username", "\(username)\(kind)", "--description",
          description, "--response", "-",
        ], input: kind == 3 ? form : json)
      // Cut, wrong, doubled, of somebody else: each is an error.
      for broken in [
        String(json.dropLast(9)), json + json, json.replacing("\"bearer\"", with: "7"),
        json.replacing("\(access)", with: "\(access)\\n"),
        json.replacing("5183944", with: "\"\(secrets.make("broken number"))\""),
        #"{"error":{"message":"no","code":190,"token":"\#(access)"}}"#,
        #"{"error":"invalid_client","access_token":"\#(access)"}"#,
      ] {
        try run(
          ["add-account", "--type", type, "--username", "other", "--response", "-"], input: broken)
        try run(
          ["add-account", "--type", type, "--user-id", "1", "--response", "-"], input: broken)
      }
    }
    let token1 = secrets.make("OAuth 1.0a token")
    let secret1 = secrets.make("OAuth 1.0a secret")
    let response1 =
      "oauth_token=\(token1)&oauth_token_secret=\(secret1)&user_id=9&screen_name=\(username)t"
    try run(["add-account", "--type", "twitter", "--response", "-"], input: response1)
    try run(["add-account", "--type", "facebook", "--response", "-"], input: response1)
    let bare = secrets.make("bare token")
    for input in ["\(bare)\n", "\(bare)\n\(bare)\n", "\(bare) \(bare)\n", "\(bare)\u{7}\n"] {
      try run(
        ["add-account", "--type", "facebook", "--username", "\(username)b", "--token-stdin"],
        input: input)
      try run(
        ["add-account", "--type", "twitter", "--username", "x", "--token-stdin"], input: input)
    }
    let clientSecret = secrets.make("client secret")
    for input in ["\(clientSecret)\n", "\(clientSecret)\n\(clientSecret)\n"] {
      try run(
        ["add-client", "--type", "x", "--client-id", client, "--client-secret-stdin"], input: input)
    }
    // On the command line they are refused, and not said again.
    for option in ["token", "passphrase", "secret", "client-secret", "access-token", "password"] {
      let value = secrets.make("argument")
      try run(["add-account", "--type", "x", "--\(option)", value])
      try run(["add-account", "--type", "x", "--\(option)=\(value)"])
    }
    try run([secrets.make("command")])
    try run(["help", secrets.make("command")])
    try run(["accounts", "--\(secrets.make("option"))"])
    try run(["accounts", "--passphrase-fd", secrets.make("descriptor")])
    try run(["remove-key", secrets.make("slot")])
    try run(["prove", secrets.make("entry")])
    try run(["history", "--limit", secrets.make("limit")])
    try run(["history", "--since", secrets.make("since")])
    try run(["history", "--event", secrets.make("event")])
    let wrong = secrets.make("wrong passphrase")
    try files.file("wrong", "\(wrong)\n")
    try run(["accounts", "--passphrase-file", files("wrong")])
    let passphrase = secrets.make("passphrase")
    try files.file("passphrase", "\(passphrase)\n")
    let second = files("second.vault")
    try run([
      "init", "--vault", second, "--passphrase-file", files("passphrase"), "--kdf-memory", "19M",
      "--no-recovery",
    ])
    try run(["accounts", "--vault", second, "--passphrase-file", files("passphrase")])

    for app in apps.prefix(3) { try run(["add-app", app, "--name", appName]) }
    try run([
      "grant", "--app", apps[0], "--perms", "publish_actions", "--account", "facebook:0",
      "--reason", reason,
    ])
    try run(["grant", "--app", apps[0], "--perms", "write"])
    try run(["deny", "--app", apps[1], "--perms", "user_likes", "--account", "facebook:0"])
    try run(["grant", "--app", apps[3], "--perms", "user_status", "--account", "facebook:0"])
    try run(["token", "--app", apps[0], "--account", "facebook:0"], handsOut: true)
    try run(["token", "--app", apps[0], "--perms", "write"], handsOut: true)
    try run(["token", "--app", apps[0], "--perms", "email"])
    for line in [
      "accounts", "apps", "clients", "asks", "history", "verify", "checkpoint", "prove 1", "keys",
      "doctor", "explain facebook:0", "access --app \(apps[0])",
      "request-access --app \(apps[2]) --type facebook --perms email --account facebook:0",
      "rotate-key", "add-key --recovery", "backup \(files("b.vault"))",
      "restore \(files("b.vault")) --to \(files("r/r.vault"))", "remove-account weibo:2",
      "revoke --app \(apps[0]) --account facebook:0", "new-app-key \(apps[1])",
      "remove-app \(apps[2])", "verify --vault \(second)",
    ] { try run(line.split(separator: " ").map(String.init)) }

    #expect(secrets.all.count + names.all.count >= 40)
    let held = try `Bad input`.contents(files.path).filter { name, _ in
      !["passphrase", "wrong", "key"].contains(name)
    }
    #expect(held.count >= 6)
    for (what, value) in secrets.all {
      for form in Self.forms(value) {
        for run in outputs {
          #expect(run.isHandOut || run.output.range(of: form) == nil, "\(what): \(run.call)")
          #expect(run.error.range(of: form) == nil, "\(what): \(run.call)")
        }
      }
    }
    for (what, value) in secrets.all + names.all {
      for form in Self.forms(value) {
        for (file, data) in held { #expect(data.range(of: form) == nil, "\(what) in \(file)") }
      }
    }
    // What a provider calls a permission, and what was granted, are as private as a name.
    for name in ["publish_actions", "user_likes", "user_status", "facebook", "twitter"] {
      for (file, data) in held {
        #expect(data.range(of: Data(name.utf8)) == nil, "\(name) in \(file)")
      }
    }
    // The search finds what is there.
    #expect(
      outputs.contains { run in
        run.isHandOut && secrets.all.contains { run.output.range(of: Data($0.value.utf8)) != nil }
      })
  }

  @Test func `stand in no process's arguments or environment`() throws {
    let vault = try ScratchVault()
    let ended = try Executable.bash(
      """
      export VAULT_FILE=\(vault.path) VAULT_KEY_FILE=\(vault.directory("key")) HOME=\(vault.directory.path)
      export VAULT_PASSPHRASE_COMMAND='sleep 1; printf hidden0passphrase'
      { sleep 1; echo hidden0token; } | vault add-account --type facebook --username a --token-stdin >/dev/null &
      VAULT_KEY_FILE= vault accounts 2>/dev/null &
      for n in $(seq 20); do
        for process in $(pgrep -x vault); do
          tr '\\0' ' ' </proc/$process/cmdline; cat /proc/$process/environ 2>/dev/null | tr '\\0' ' '
        done 2>/dev/null; sleep 0.05
      done >seen; wait
      grep -c vault seen; grep -c 'hidden0token' seen
      """.replacing(">seen", with: ">\(vault.directory("seen"))")
        .replacing(" seen", with: " \(vault.directory("seen"))"))
    let lines = ended.text.split(separator: "\n")
    #expect(lines.count == 2 && lines[0] != "0" && lines[1] == "0", "\(ended.text)")
  }
}
