import Foundation
import Testing

@testable import Agent

@Suite struct `An app asks the agent` {
  @Test func `for its accounts, its permissions and a token`() throws {
    let filled = try FilledAgent()
    try filled.agent.start()
    let ann = try #require(filled.ids["ann"])
    #expect(
      try filled.ask("one", "GET", "/v1/accounts").body
        == #"{"accounts":[{"id":"\#(ann)","type":"facebook","username":"ann","user_id":null}]}"#
        + "\n")
    #expect(try filled.ask("none", "GET", "/v1/accounts").body == "{\"accounts\":[]}\n")
    let access = try filled.ask("one", "GET", "/v1/access")
    let lines = try #require(access.object["access"] as? [[String: Any]])
    #expect(
      lines.map { "\($0["permission"] ?? "") \($0["state"] ?? "") \($0["group"] ?? "")" } == [
        "email granted read", "publish_actions granted write", "user_birthday denied read",
      ])
    #expect(lines[1]["audience"] as? String == "only_me")
    #expect(lines.allSatisfy { Set($0.keys).count == 7 && $0["account"] as? String == ann })
    let never = try filled.ask("one", "GET", "/v1/access?account=ann&perms=user_photos,email")
    #expect(
      (never.object["access"] as? [[String: Any]])?.map { $0["state"] as? String } == [
        "never", "granted",
      ])
    let token = try filled.ask("one", "POST", "/v1/token", #"{"permissions":["email"]}"#)
    #expect(token.status == 200)
    #expect(token.header("cache-control") == "no-store")
    #expect(token.object["token"] as? String == FilledAgent.token(of: "ann"))
    #expect(token.object["account"] as? String == ann)
    #expect(token.object["client_id"] as? String == "c1")
    #expect(token.object["token_type"] as? String == "bearer")
    #expect((token.object["expires_at"] as? String)?.hasSuffix("Z") == true)
    #expect(try filled.ask("one", "POST", "/v1/token").status == 200)
    #expect(
      try filled.agent.history("--app", "one", "--event", "token_used").map {
        $0["permissions"] as? [String]
      } == [["email"], []])
    #expect(try filled.ask("one", "HEAD", "/v1/app").status == 200)
  }

  @Test func `for access, which waits for the owner`() throws {
    let filled = try FilledAgent()
    try filled.agent.start()
    let body = #"{"type":"facebook","permissions":["email"],"account":"ann"}"#
    let pending = try filled.ask("none", "POST", "/v1/access", body)
    #expect(pending.status == 202)
    #expect(
      pending.body
        == #"{"type":"facebook","account":null,"decision":"pending","granted":[],"declined":[]}"#
        + "\n")
    // The same for an account that is not there, and where none is named of three.
    for other in [
      #"{"type":"facebook","permissions":["email"],"account":"nobody"}"#,
      #"{"type":"facebook","permissions":["email"]}"#,
    ] {
      let reply = try filled.ask("none", "POST", "/v1/access", other)
      #expect(reply.status == 202)
      #expect(reply.body == pending.body)
    }
    try filled.agent.vault("grant --app none --perms email --account \(filled.ids["ann"] ?? "")")
    let granted = try filled.ask("none", "POST", "/v1/access", body)
    #expect(granted.status == 200)
    #expect(granted.object["decision"] as? String == "granted")
    #expect(granted.object["account"] as? String == filled.ids["ann"])
    let denied = try filled.ask(
      "one", "POST", "/v1/access",
      #"{"type":"facebook","permissions":["user_birthday"],"account":"ann"}"#)
    #expect(denied.status == 200)
    #expect(denied.object["decision"] as? String == "denied")
    #expect(denied.object["declined"] as? [String] == ["user_birthday"])
    let none = try filled.ask(
      "one", "POST", "/v1/access", #"{"type":"weibo","permissions":["email"]}"#)
    #expect(none.status == 200)
    #expect(none.object["decision"] as? String == "no_account")
    // The provider's rules.
    let mixed = try filled.ask(
      "none", "POST", "/v1/access",
      #"{"type":"facebook","permissions":["email","publish_actions"],"audience":"friends"}"#)
    #expect(mixed.status == 400)
    #expect(mixed.code == "usage")
  }

  @Test func `without naming an account, where it holds this on two, and nothing is handed out`()
    throws
  {
    let filled = try FilledAgent()
    try filled.agent.start()
    let held = Set([filled.ids["ann"], filled.ids["bob"]].compactMap { $0 })
    for (path, body) in [
      ("/v1/token", #"{"permissions":["email"]}"#),
      (
        "/v1/sign",
        #"{"permissions":["email"],"method":"GET","url":"https://graph.facebook.com/me"}"#
      ),
    ] {
      let reply = try filled.ask("both", "POST", path, body)
      #expect(reply.status == 409)
      #expect(reply.code == "ambiguous")
      let error = try #require(reply.object["error"] as? [String: Any])
      #expect(Set(error["candidates"] as? [String] ?? []) == held)
      #expect(!reply.body.contains("cid") && !reply.body.contains(filled.ids["cid"] ?? "-"))
    }
    #expect(try filled.agent.history("--app", "both", "--event", "token_used").isEmpty)
  }

  @Test func `and each cell of apps, accounts, permissions and endpoints is as granted`() throws {
    let filled = try FilledAgent()
    try filled.agent.start("--app-rate", "100000")
    let grants: [String: [String: Set<String>]] = [
      "both": ["ann": ["email"], "bob": ["email"]],
      "one": ["ann": ["email", "publish_actions"]],
      "signer": ["ann": ["email", "publish_actions"], "bird": ["write"]],
      "none": [:],
    ]
    var cells = 0
    for (app, held) in grants {
      for account in FilledAgent.accounts + ["bird", "nobody"] {
        for permission in ["email", "publish_actions", "user_birthday", "user_photos", "write"] {
          let holds = held[account]?.contains(permission) == true
          let isSeen = held[account] != nil
          // A name that the account's provider does not know is told to who sees the account.
          let isUnknown = isSeen && (account == "bird") != (permission == "write")
          let isDenied = app == "one" && account == "ann" && permission == "user_birthday"
          let refused =
            isUnknown ? "usage" : isDenied ? "denied" : "never_asked"
          let use = #""account":"\#(account)","permissions":["\#(permission)"]"#
          let token = try filled.ask(app, "POST", "/v1/token", "{\(use)}")
          let cell: Comment = "\(app) \(account) \(permission)"
          if holds, app == "signer" {
            #expect(token.status == 403 && token.code == "denied", cell)
          } else {
            #expect(token.status == (holds ? 200 : isUnknown ? 400 : 403), cell)
            #expect(token.code == (holds ? nil : refused), cell)
          }
          #expect(
            token.body.contains(FilledAgent.token(of: account)) == (holds && app != "signer"), cell)
          let host = account == "bird" ? "api.twitter.com" : "graph.facebook.com"
          let sign = try filled.ask(
            app, "POST", "/v1/sign", #"{\#(use),"method":"GET","url":"https://\#(host)/me"}"#)
          let mayHave = holds && (app != "signer" || account == "bird")
          #expect(
            sign.status == (mayHave ? 200 : isUnknown ? 400 : 403), "\(cell) \(sign.body)")
          if !holds { #expect(sign.code == refused, cell) }
          let access = try filled.ask(
            app, "GET", "/v1/access?account=\(account)&perms=\(permission)")
          #expect(access.status == (isUnknown ? 400 : isSeen ? 200 : 403), cell)
          if access.status == 200 {
            let lines = access.object["access"] as? [[String: Any]]
            #expect(
              lines?.first?["state"] as? String
                == (holds ? "granted" : isDenied ? "denied" : "never"), cell)
          }
          cells += 3
        }
      }
      let accounts = try filled.ask(app, "GET", "/v1/accounts").object["accounts"]
      #expect(
        Set((accounts as? [[String: Any]] ?? []).compactMap { $0["username"] as? String })
          == Set(held.keys))
    }
    #expect(cells == 4 * 5 * 5 * 3)
    // What is never handed out, and whatever was asked.
    let received = String(decoding: filled.agent.received.withLock { $0 }, as: UTF8.self)
    #expect(!received.contains(FilledAgent.refresh))
    #expect(!received.contains(FilledAgent.clientSecret))
    #expect(!received.contains(FilledAgent.tokenSecret))
    #expect(received.contains(FilledAgent.token(of: "ann")))
    _ = try filled.agent.vault("verify")
  }

  @Test
  func `about an account that is not there, or of others, and the answer does not tell which`()
    throws
  {
    let filled = try FilledAgent()
    try filled.agent.start("--app-rate", "1000000")
    let cid = try #require(filled.ids["cid"])
    let there = [cid, String(cid.prefix(8)), "facebook:cid", "cid", "bird", "twitter:12"]
    let notThere = [
      String(repeating: "b", count: 26), "bbbbbbbb", "facebook:nil", "nil", "brid", "twitter:13",
    ]
    let paths: [(String, String, (String) -> String?)] = [
      ("POST", "/v1/token", { #"{"account":"\#($0)","permissions":["email"]}"# }),
      (
        "POST", "/v1/sign",
        {
          #"{"account":"\#($0)","permissions":["email"],"method":"GET","url":"https://graph.facebook.com/"}"#
        }
      ),
      ("GET", "/v1/access", { _ in nil }),
    ]
    for (method, path, body) in paths {
      var bodies: Set<String> = []
      // Alone in a window of its own, each kind of name writes one entry.
      for names in [there, notThere] {
        let app = names == there ? "one" : "both"
        let before = try filled.agent.history("--app", app, "--event", "use_refused").count
        for name in names {
          let query = method == "GET" ? "?account=\(name)&perms=email" : ""
          let reply = try filled.ask(app, method, path + query, body(name))
          #expect(reply.status == 403, "\(path) \(name)")
          bodies.insert(reply.body.replacingOccurrences(of: "app \(app)", with: "app"))
        }
        let after = try filled.agent.history("--app", app, "--event", "use_refused").count
        #expect((0...names.count).contains(after - before))
      }
      #expect(
        Set(bodies.map { $0.replacingOccurrences(of: "--app one", with: "--app both") }).count == 1,
        "\(path): \(bodies)")
    }
    let written = try filled.agent.history("--event", "use_refused")
    #expect(written.count { $0["app"] as? String == "one" } >= 1)
    #expect(
      written.count { $0["app"] as? String == "one" }
        == written.count { $0["app"] as? String == "both" })
    #expect(written.allSatisfy { $0["account"] is NSNull })
    // The time of both, taken in turn on one connection.
    let pairs = try zip(there, notThere).map { one, other in
      try filled.times(of: [one, other], count: 400)
    }
    for pair in pairs {
      let ratio = pair[0] / pair[1]
      #expect((0.6...1.67).contains(ratio), "\(ratio)")
    }
  }
}

extension FilledAgent {
  /// The median time, in seconds, of a refused use of each of these accounts, asked in turn.
  func times(of accounts: [String], count: Int) throws -> [Double] {
    let connection = try AppConnection(agent, key: keys["none"] ?? "")
    var times = accounts.map { _ in [Double]() }
    for _ in 0..<count {
      for (place, account) in accounts.enumerated() {
        let start = ContinuousClock.now
        let status = try connection.status(
          "POST", "/v1/token", #"{"account":"\#(account)","permissions":["email"]}"#)
        times[place].append((ContinuousClock.now - start) / .seconds(1))
        #expect(status == 403)
      }
    }
    return times.map { $0.sorted()[$0.count / 2] }
  }
}
