import AccountVault
import Testing

@Suite struct `An account on one of many servers` {
  @Test func `is named with its server in three ways, and is one account`() throws {
    let session = try Place().create()
    let account = try session.addSocial("mastodon", "lestat@Social.Example", id: "1")
    #expect(account.type == "mastodon@social.example" && account.username == "lestat")
    #expect(try session.addSocial("mastodon", "@lestat@social.example", id: "1").id == account.id)
    #expect(try session.addSocial("mastodon@social.example", "lestat", id: "1").id == account.id)
    #expect(
      try session.addSocial("mastodon@social.example", "lestat@social.example", id: "1").id
        == account.id)
    for text in [
      "mastodon@social.example:lestat", "mastodon:lestat@social.example",
      "mastodon:lestat@SOCIAL.example", "lestat", "mastodon@social.example:1",
    ] {
      #expect(try session.account(text).id == account.id, "\(text)")
    }
    #expect(
      refusal { () throws(VaultError) in try session.account("mastodon:lestat") }.code == .notFound)
  }

  @Test func `never meets the account of the same id on another server`() throws {
    let session = try Place().create()
    let one = try session.addSocial("mastodon", "lestat@one.example", id: "1")
    _ = try session.grant(
      Decision(app: "123", permissions: ["write:statuses"], account: one.id.text))
    let two = try session.addSocial("mastodon", "lestat@two.example", id: "1")
    #expect(one.id != two.id)
    #expect(
      refusal { () throws(VaultError) in
        try session.token(app: "123", account: two.id.text, permissions: ["write:statuses"])
      }.code == .neverAsked)
    #expect(
      try session.tokenText(account: "mastodon@one.example:lestat", ["write:statuses"]) == "made-up"
    )
    var seen: [AccountID] = []
    try session.forEachAccount(type: "mastodon") { (account) throws(VaultError) in
      seen.append(account.id)
      return true
    }
    #expect(Set(seen) == [one.id, two.id])
    seen = []
    try session.forEachAccount(type: "mastodon@two.example") { (account) throws(VaultError) in
      seen.append(account.id)
      return true
    }
    #expect(seen == [two.id])
  }

  @Test func `is refused without the server, with the command that would do`() throws {
    let place = try Place()
    let session = try place.create()
    let before = try place.bytes()
    let account = refusal { () throws(VaultError) in try session.addSocial("mastodon", "lestat") }
    #expect(account.code == .usage && account.message.contains("server"))
    #expect(account.hint == "vault add-account --type mastodon@SERVER --username lestat")
    let client = refusal { () throws(VaultError) in
      try session.addClient(type: "mastodon", clientID: "c1")
    }
    #expect(client.code == .usage)
    #expect(client.hint == "vault add-client --type mastodon@SERVER --client-id c1")
    for (type, name) in [
      ("mastodon@one.example", "lestat@two.example"), ("mastodon@one.example:3000", "lestat"),
      ("mastodon@", "lestat"), ("facebook@one.example", "lestat"), ("mastodon", "lestat@a/b"),
    ] {
      #expect(
        refusal { () throws(VaultError) in try session.addSocial(type, name) }.code == .usage,
        "\(type) \(name)")
    }
    #expect(
      refusal { () throws(VaultError) in try session.addSocial("none@one.example", "lestat") }.code
        == .notFound)
    #expect(try place.bytes() == before)
  }

  @Test func `keeps the clients of two servers apart`() throws {
    let session = try Place().create()
    let one = try session.addClient(type: "mastodon@one.example", clientID: "c1")
    let two = try session.addClient(type: "mastodon@two.example", clientID: "c2")
    #expect(one.isDefault && two.isDefault)
    #expect(try session.addSocial("mastodon", "a@two.example").clients == ["c2"])
    #expect(try session.addSocial("mastodon", "a@one.example").clients == ["c1"])
  }

  @Test func `is what an app asks for by the kind alone`() throws {
    let session = try Place().create()
    let account = try session.addSocial("mastodon", "lestat@one.example")
    let person = Person(.grant(["read:accounts"]))
    let outcome = try session.requestAccess(
      AccessRequest(app: "5", type: "mastodon", permissions: ["read:accounts"]),
      asker: person.asker)
    #expect(outcome.decision == .granted)
    #expect(outcome.type == account.type && outcome.account?.id == account.id)
    #expect(try session.tokenText(app: "5", ["read:accounts"]) == "made-up")
  }

  @Test func `of a definition of the owner's own is named the same way`() throws {
    let session = try Place().create()
    try session.addProvider(#"{"id":"fedi","extends":"mastodon","name":"Fedi"}"#)
    let account = try session.addSocial("fedi", "lestat@one.example")
    #expect(account.type == "fedi@one.example")
    #expect(try session.provider(account.type).name == "Fedi")
    try session.addProvider(
      #"{"id":"local","extends":"mastodon","variables":{"server":"localhost:3000"}}"#)
    #expect(try session.addSocial("local", "lestat").type == "local")
  }
}

extension Session {
  fileprivate func addSocial(_ type: String, _ name: String, id: String? = nil)
    throws(VaultError) -> Account
  {
    let response =
      #"{"access_token":"made-up","token_type":"Bearer","scope":"read write:statuses"}"#
    return try addAccount(
      NewAccount(type: type, username: name, userID: id), credential: .response(.text(response)))
  }
}

@Suite struct `Every built-in type` {
  static let responses: [(type: String, permission: String, body: String)] = [
    ("tencentweibo", "get_info", "access_token=tok&expires_in=604800&openid=O&name=lestat"),
    (
      "linkedin", "profile",
      #"{"access_token":"tok","expires_in":5184000,"scope":"openid,profile"}"#
    ),
    ("mastodon@one.example", "read:lists", #"{"access_token":"tok","scope":"read"}"#),
    ("github", "user:email", "access_token=tok&scope=user&token_type=bearer"),
    ("github-app", "issues:write", #"{"access_token":"tok","expires_in":28800,"scope":""}"#),
    (
      "google", "email",
      #"{"access_token":"tok","expires_in":3599,"scope":"openid https://www.googleapis.com/auth/userinfo.email"}"#
    ),
    (
      "microsoft", "Mail.Read",
      #"{"access_token":"tok","expires_in":3600,"scope":"https://graph.microsoft.com/Mail.Read"}"#
    ),
    (
      "slack", "chat:write",
      #"{"ok":true,"access_token":"xoxb","token_type":"bot","authed_user":{"id":"U1","access_token":"tok","scope":"chat:write","token_type":"user"}}"#
    ),
    ("reddit", "submit", #"{"access_token":"tok","expires_in":86400,"scope":"*"}"#),
    (
      "bluesky", "transition:generic",
      #"{"access_token":"tok","token_type":"DPoP","expires_in":1800,"scope":"atproto transition:generic","sub":"did:plc:a"}"#
    ),
  ]

  @Test(arguments: responses.indices)
  func `takes its provider's token response and serves an app`(_ index: Int) throws {
    let row = Self.responses[index]
    let session = try Place().create()
    let account = try session.addAccount(
      NewAccount(type: row.type, username: "lestat"), credential: .response(.text(row.body)))
    #expect(account.type == row.type)
    _ = try session.grant(
      Decision(app: "123", permissions: [row.permission], account: account.id.text))
    #expect(try session.tokenText([row.permission]) == "tok")
  }
}
