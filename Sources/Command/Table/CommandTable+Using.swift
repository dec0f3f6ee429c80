extension CommandTable {
  static let using: [CommandSpec] = [
    CommandSpec(
      name: "access", group: .using, summary: "show what an app may do",
      options: [.app, .account, .perms(.optional)],
      about: [
        """
        A line for each permission: never, granted, denied, revoked or lapsed. With --perms the exit \
        code answers for all of them.
        """
      ],
      examples: [
        .init("vault access --app 123", "all of it"),
        .init("vault access --app 123 --perms publish_actions", "a question with a yes or no"),
      ],
      json: .lines([
        "app", "account", "permission", "group", "state", "audience", "until", "since", "entry",
      ]),
      exits: [
        .damaged, .notFound, .denied, .neverAsked, .revoked, .ambiguous, .locked, .wrongKey,
        .newerFormat,
      ], needs: [.vault, .key]),
    CommandSpec(
      name: "token", group: .using, summary: "hand out a token",
      options: [
        .app, .account, .perms(.optional),
        .flag("no-renew", "exit 75 or 82 where the token has expired"),
      ],
      about: [
        """
        Prints the token and a newline, and nothing else. Only with a live grant; every hand-out and \
        every refusal is recorded first. A token that has expired is never handed out.
        """
      ],
      examples: [
        .init(
          "TOKEN=$(vault token --app 123 --perms publish_actions)", "into a variable of the shell")
      ],
      json: .object(["token", "token_type", "expires_at", "account", "client_id"]),
      exits: [
        .damaged, .notFound, .tryAgain, .denied, .neverAsked, .revoked, .signIn, .ambiguous,
        .locked, .wrongKey, .newerFormat,
      ], needs: [.vault, .key]),
    CommandSpec(
      name: "explain", group: .using, summary: "say whether an account can be used, and why not",
      arguments: [ArgumentSpec("ACCOUNT")],
      options: [.app(.optional), .perms(.optional)],
      about: ["Offline: may it be used, why or why not, what happens next and when."],
      examples: [
        .init("vault explain facebook:lestat.ali --app 123 --perms publish_actions", "one use")
      ],
      json: .object([
        "account", "app", "permissions", "usable", "reason", "credentials", "next", "next_at",
      ]),
      exits: [
        .damaged, .notFound, .tryAgain, .denied, .neverAsked, .revoked, .signIn, .ambiguous,
        .locked, .wrongKey, .newerFormat,
      ], needs: [.vault, .key]),
  ]
}
