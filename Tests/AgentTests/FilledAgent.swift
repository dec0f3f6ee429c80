import Foundation
import Testing

/// Three accounts of Facebook's and one of Twitter's; which app holds what on which of them.
///
/// `both` holds `email` on the first and the second, `one` holds `email` and `publish_actions` on the
/// first and was denied `user_birthday`, `signer` is sign-only and holds the same as `one` and `write`
/// on Twitter's, `none` holds nothing.
struct FilledAgent {
  let agent: RunningAgent
  /// By the app's id.
  let keys: [String: String]
  /// The accounts' ids by their usernames.
  let ids: [String: String]

  static let accounts = ["ann", "bob", "cid"]
  static let refresh = "refresh-canary-2f9d1c7a5e"
  static let clientSecret = "client-secret-canary-81c3e0"
  static let tokenSecret = "token-secret-4b7a"

  static func token(of account: String) -> String { "EAA-token-of-\(account)" }

  init() throws {
    agent = try RunningAgent()
    for type in ["facebook", "twitter"] {
      try agent.vault(
        "add-client --type \(type) --client-id c1 --client-secret-stdin",
        input: Self.clientSecret + "\n")
    }
    var ids: [String: String] = [:]
    for name in Self.accounts {
      ids[name] = try Self.id(
        agent.vault(
          "add-account --type facebook --username \(name) --client c1 --response - --json",
          input: """
            {"access_token":"\(Self.token(of: name))","token_type":"bearer","expires_in":5183944,\
            "refresh_token":"\(Self.refresh)"}
            """))
    }
    ids["bird"] = try Self.id(
      agent.vault(
        "add-account --type twitter --client c1 --response - --json",
        input: "oauth_token=12-bird&oauth_token_secret=\(Self.tokenSecret)&user_id=12"
          + "&screen_name=bird"))
    self.ids = ids
    keys = [
      "both": try agent.addApp("both"), "one": try agent.addApp("one"),
      "signer": try agent.addApp("signer", "--sign-only"), "none": try agent.addApp("none"),
    ]
    for (app, permissions, account) in [
      ("both", "email", "ann"), ("both", "email", "bob"), ("one", "email,publish_actions", "ann"),
      ("signer", "email,publish_actions", "ann"), ("signer", "write", "bird"),
    ] {
      try agent.vault("grant --app \(app) --perms \(permissions) --account \(ids[account] ?? "")")
    }
    try agent.vault("deny --app one --perms user_birthday --account \(ids["ann"] ?? "")")
  }

  private static func id(_ output: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    return try #require(object?["id"] as? String)
  }

  /// An app asks once.
  func ask(
    _ app: String, _ method: String, _ path: String, _ body: String? = nil,
    headers: [String] = []
  ) throws -> RunningAgent.Reply {
    try agent.ask(method, path, key: keys[app], body: body, headers: headers)
  }
}
