import Providers
import Testing

@Suite struct `An app's ask` {
  static func rule(
    _ permissions: [String], group: AskRules.Group? = nil, audience: String? = nil,
    held: [String] = [], type: Provider = builtIn("facebook"), app: String = "123",
    account: String? = nil
  ) -> AskRules.Ruling {
    AskRules(
      provider: type, app: app, account: account, permissions: permissions, group: group,
      audience: audience, held: held
    ).rule()
  }

  static func refusal(_ ruling: AskRules.Ruling) -> AskRefusal? {
    if case .refused(let refusal) = ruling { refusal } else { nil }
  }

  static func asks(_ ruling: AskRules.Ruling) -> [AskRules.Ask] {
    if case .asks(let asks) = ruling { asks } else { [] }
  }

  @Test func `for reading goes to the person, with a basic permission first`() {
    let own = Self.asks(Self.rule(["email"]))
    #expect(own.map(\.permissions) == [["email"]])
    #expect(own[0].added == nil)
    let added = Self.asks(Self.rule(["user_likes"]))
    #expect(added.map(\.permissions) == [["email", "user_likes"]])
    #expect(added[0].added == "email")
    // Any of the basic ones will do, and later asks need none.
    #expect(Self.asks(Self.rule(["user_birthday", "user_likes"]))[0].added == nil)
    #expect(Self.asks(Self.rule(["user_likes"], held: ["email"]))[0].permissions == ["user_likes"])
  }

  @Test func `for nothing is one for the basic permission`() {
    #expect(Self.asks(Self.rule([])).map(\.permissions) == [["email"]])
    #expect(Self.refusal(Self.rule([], group: .write))?.reason == .nothingAsked)
    #expect(Self.refusal(Self.rule([], type: builtIn("twitter")))?.reason == .nothingAsked)
  }

  @Test func `without an app is refused`() {
    #expect(Self.refusal(Self.rule(["email"], app: ""))?.reason == .appMissing)
  }

  @Test func `is refused for three distinct reasons where it is made wrongly`() {
    let first = Self.refusal(Self.rule(["publish_actions"]))
    #expect(first?.reason == .readFirst)
    #expect(first?.nextCommand == "vault request-access --app 123 --type facebook --perms email")
    let mixed = Self.refusal(Self.rule(["email", "publish_actions"]))
    #expect(mixed?.reason == .mixed)
    #expect(
      mixed?.nextCommand
        == "vault request-access --app 123 --type facebook --perms email,publish_actions --group readwrite --audience only_me"
    )
    let silent = Self.refusal(Self.rule(["publish_actions"], held: ["email"]))
    #expect(silent?.reason == .audienceMissing)
    #expect(
      silent?.nextCommand
        == "vault request-access --app 123 --type facebook --perms publish_actions --audience only_me"
    )
    let right = Self.asks(Self.rule(["publish_actions"], audience: "friends", held: ["email"]))
    #expect(right.map(\.permissions) == [["publish_actions"]])
    #expect(right[0].audience == .friends)
    #expect(right[0].group == .write)
  }

  @Test func `for both is two, in order`() {
    let both = Self.asks(
      Self.rule(["publish_actions", "user_likes"], group: .readwrite, audience: "everyone"))
    #expect(both.map(\.permissions) == [["email", "user_likes"], ["publish_actions"]])
    #expect(both.map(\.group) == [.read, .write])
    #expect(both.map(\.audience) == [nil, .everyone])
    let write = Self.asks(Self.rule(["publish_actions"], group: .readwrite, audience: "public"))
    #expect(write.map(\.permissions) == [["email"], ["publish_actions"]])
    #expect(write[1].audience == .everyone)
    let later = Self.rule(
      ["publish_actions"], group: .readwrite, audience: "only_me", held: ["email"])
    #expect(Self.asks(later).map(\.permissions) == [["publish_actions"]])
    #expect(
      Self.refusal(Self.rule(["email", "publish_actions"], group: .readwrite))?.reason
        == .audienceMissing)
  }

  @Test func `keeps to the group that it names`() {
    let write = Self.refusal(Self.rule(["publish_actions"], group: .read, held: ["email"]))
    #expect(write?.reason == .notOfGroup("publish_actions", .write, asked: .read))
    #expect(write?.nextCommand.contains("--group write --audience only_me") == true)
    let read = Self.refusal(Self.rule(["email"], group: .write, audience: "friends"))
    #expect(read?.reason == .notOfGroup("email", .read, asked: .write))
    #expect(read?.nextCommand.contains("--group read") == true)
  }

  @Test func `for something extended stands alone and is shown as such`() throws {
    let alone = Self.asks(Self.rule(["read_mailbox"], held: ["email"]))
    #expect(alone.map(\.group) == [.extended])
    #expect(Self.refusal(Self.rule(["read_mailbox"]))?.reason == .readFirst)
    let mixed = Self.refusal(Self.rule(["read_mailbox", "user_likes"], held: ["email"]))
    #expect(mixed?.reason == .extendedNotAlone(["read_mailbox"]))
    #expect(
      mixed?.nextCommand == "vault request-access --app 123 --type facebook --perms read_mailbox")
    let strict = try Provider.parse(
      #"{"id": "strict", "extends": "facebook", "extended": "refuse"}"#)
    #expect(
      Self.refusal(Self.rule(["read_mailbox"], held: ["email"], type: strict))?.reason
        == .extendedRefused("read_mailbox"))
  }

  @Test func `for what was retired says so`() {
    let refusal = Self.refusal(Self.rule(["email", "offline_access"]))
    guard case .retired("offline_access", let why) = refusal?.reason else {
      Issue.record("offline_access was not refused as retired")
      return
    }
    #expect(why.contains("retired"))
    #expect(refusal?.nextCommand == "vault request-access --app 123 --type facebook --perms email")
  }

  @Test func `for an unknown name lists those near it`() {
    guard
      case .unknownPermission("publish_action", let near) =
        Self.refusal(Self.rule(["publish_action"]))?.reason
    else {
      Issue.record("an unknown name was taken")
      return
    }
    #expect(near.first == "publish_actions")
    guard case .unknownPermission(_, let none) = Self.refusal(Self.rule(["zzzzzzzz"]))?.reason
    else {
      Issue.record("an unknown name was taken")
      return
    }
    #expect(none.isEmpty)
    // Case counts.
    guard case .unknownPermission(_, let lower) = Self.refusal(Self.rule(["Email"]))?.reason else {
      Issue.record("a name in another case was taken")
      return
    }
    #expect(lower.first == "email")
  }

  @Test func `takes an audience only where the provider has one`() {
    let twitter = builtIn("twitter")
    #expect(
      Self.refusal(Self.rule(["write"], audience: "friends", type: twitter))?.reason
        == .audienceNotTaken)
    #expect(Self.asks(Self.rule(["read", "write"], type: twitter)).count == 1)
    #expect(Self.refusal(Self.rule(["email"], type: twitter))?.reason.name == "unknown_permission")
    #expect(
      Self.refusal(Self.rule(["publish_actions"], audience: "all", held: ["email"]))?.reason
        == .audienceUnknown("all"))
    #expect(Self.asks(Self.rule(["tweet.write", "tweet.read"], type: builtIn("x"))).count == 1)
  }

  @Test func `gives a command that a shell takes as it is meant`() {
    let refusal = Self.refusal(
      Self.rule(["publish_actions"], held: ["email"], account: "facebook:it's me"))
    #expect(refusal?.nextCommand.contains(#"--account 'facebook:it'\''s me'"#) == true)
  }

  @Test func `finds every name of 2012 in its group`() {
    let facebook = builtIn("facebook")
    for name in ["email", "user_birthday", "user_location"] {
      #expect(facebook.permission(named: name)?.isBasic == true)
    }
    let pairs = [
      "about_me", "activities", "birthday", "checkins", "education_history", "events", "groups",
      "hometown", "interests", "likes", "notes", "online_presence", "religion_politics", "status",
      "subscriptions", "videos", "website", "work_history", "photos", "photo_video_tags",
      "questions", "relationships", "relationship_details", "games_activity",
    ]
    for pair in pairs {
      for side in ["user_", "friends_"] {
        #expect(facebook.permission(named: side + pair)?.group == .read, "\(side)\(pair)")
      }
    }
    for name in ["friends_location", "user_actions.video", "friends_actions.music"] {
      #expect(facebook.permission(named: name)?.group == .read, "\(name)")
    }
    for name in [
      "read_friendlists", "read_mailbox", "read_requests", "read_stream", "read_insights",
      "xmpp_login",
    ] {
      #expect(facebook.permission(named: name)?.group == .extended, "\(name)")
    }
    for name in [
      "ads_management", "create_event", "rsvp_event", "manage_friendlists",
      "manage_notifications", "manage_pages", "publish_actions", "publish_stream",
      "publish_checkins", "create_note", "photo_upload", "video_upload", "share_item",
      "status_update", "sms",
    ] {
      #expect(facebook.permission(named: name)?.group == .write, "\(name)")
    }
    for name in ["offline_access", "public_profile", "user_friends", "basic_info"] {
      #expect(facebook.permission(named: name) == nil)
      #expect(facebook.retirement(of: name) != nil)
    }
    for name in ["user_actions.", "user_actions.*", "user_actions", "installed", "", "e mail"] {
      #expect(facebook.permission(named: name) == nil, "\(name)")
    }
  }
}
