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
        .flag("renew", "renew it before its end").overNetwork,
        .flag("no-renew", "exit 75 or 82 where the token has expired"),
      ],
      exclusive: [["renew", "no-renew"]],
      about: [
        """
        Prints the token and a newline, and nothing else. Only with a live grant; every hand-out and \
        every refusal is recorded first. A token that has expired is renewed first, and never handed \
        out.
        """,
        """
        An app's renewals keep the least time between two, and what the engine waits for after a \
        failure.
        """,
      ],
      examples: [
        .init(
          "TOKEN=$(vault token --app 123 --perms publish_actions)", "into a variable of the shell")
      ],
      json: .object(["token", "token_type", "expires_at", "account", "client_id"]),
      exits: [
        .damaged, .notFound, .tryAgain, .config, .denied, .neverAsked, .revoked, .signIn,
        .ambiguous,
        .locked, .wrongKey, .newerFormat,
      ], needs: [.vault, .key]),
    CommandSpec(
      name: "renew", group: .using, summary: "renew credentials before they end",
      arguments: [ArgumentSpec("ACCOUNT", .repeated)],
      options: [
        .option("within", "DURATION", "also what becomes due in this time, such as 2h or 7d"),
        .flag("all", "every credential, due or not"),
        .flag("dry-run", "say what would be done, and do nothing"),
        .flag("watch", "go on, and renew what becomes due until a signal comes"),
      ],
      exclusive: [
        ["within", "all", "ACCOUNT"], ["dry-run", "watch"], ["watch", "within"], ["watch", "all"],
        ["watch", "ACCOUNT"],
      ],
      about: [
        """
        Renews the credentials that are due, with a line for each. Accounts that are named, and with \
        --all every account, are tried once now, whatever waits; only a time that the provider \
        itself named is kept.
        """,
        """
        Where no account is named, providers are told of tokens that are over as well, such as those \
        of an account that was removed: exit 75 where one could not be told yet.
        """,
        """
        An account that was restored from a backup is renewed only where it is named: its refresh \
        token may have been used since, and using it again can end the grant at the provider.
        """,
        """
        Programs in the hooks folder (${XDG_CONFIG_HOME:-~/.config}/vault/hooks) called renewed, \
        rejected, failed or expiring are run with a line's object on their standard input, for at \
        most 30 seconds each.
        """,
      ],
      examples: [
        .init("vault renew", "what is due, from a timer"),
        .init("vault renew facebook:lestat.ali", "one account, now"),
        .init("vault renew --within 7d --dry-run", "what comes in the next days"),
      ],
      json: .lines([
        "account", "client_id", "outcome", "class", "reason", "generation", "expires_at",
        "next_attempt_at",
      ]),
      exits: [
        .failed, .damaged, .notFound, .tryAgain, .config, .signIn, .ambiguous, .locked, .wrongKey,
        .newerFormat,
      ], needs: [.vault, .key, .network]),
    hiddenRenewal,
    CommandSpec(
      name: "request", group: .using, summary: "send a signed request for an account",
      arguments: [
        ArgumentSpec(
          "METHOD", kind: .choice(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"])),
        ArgumentSpec("URL"),
      ],
      options: [
        .app, .account, .perms(.optional),
        .option(
          "data", "NAME=VALUE", "a parameter: of the form, or of the query where there is none",
          presence: .repeated
        ).short("d"),
        .option(
          "form", "NAME=VALUE", "a part of a multipart form; NAME=@FILE sends a file",
          presence: .repeated
        ).short("F"),
        .option("header", "'NAME: VALUE'", "a header", presence: .repeated).short("H"),
        .option("json-body", "FILE", "a body of JSON, as it is; - for standard input", kind: .file),
        .flag("include", "print status and headers before the body").short("i"),
        .option("output", "FILE", "write to FILE, once all of it is there", kind: .file).short("o"),
        .flag("dry-run", "show what would be sent, secrets hidden, and send and record nothing"),
        .option("max-wait", "DURATION", "wait so long where the provider says when to come back"),
      ],
      about: [
        """
        Signs the request as the account's provider wants it, sends it, and prints the body of the \
        answer as it comes. The app needs a live grant and never sees the token, so this works for a \
        sign-only app as well. Every request and every refusal is recorded first.
        """,
        """
        It goes only to hosts that the provider's definition names, and no redirect is followed. Where \
        the provider says that the credential has expired, there is one renewal and one more try. A \
        refusal's body is printed too; the error is told and the exit code says what it means.
        """,
        """
        A parameter is text as it is, also one that begins with @. FILE of --output is replaced in one \
        step, with mode 0600, and stays as it was where the request fails or is interrupted; a \
        refusal's body goes to standard output all the same.
        """,
      ],
      examples: [
        .init(
          "vault request --app 123 GET https://graph.facebook.com/v19.0/me -d fields=id,name",
          "a read"),
        .init(
          "vault request --app 123 POST https://graph.facebook.com/v19.0/me/photos"
            + " -d caption=Sea -F source=@sea.jpg", "a file"),
      ],
      json: .none,
      exits: [
        .failed, .damaged, .notFound, .tryAgain, .denied, .config, .neverAsked, .revoked, .signIn,
        .ambiguous, .locked, .wrongKey, .newerFormat,
      ], needs: [.vault, .key, .network]),
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

  /// What `token` starts where it finds, after unlocking, that the token has expired.
  private static let hiddenRenewal: CommandSpec = {
    var command = CommandSpec(
      name: "renew-for-app", group: .using, summary: "renew the credential that an app uses",
      options: [.app, .account, .perms(.optional)],
      about: ["Renews as the app's own need, within what it was granted. `token` runs it."],
      examples: [.init("vault renew-for-app --app 123", "what the app may use")], json: .none,
      exits: [
        .damaged, .notFound, .tryAgain, .config, .denied, .neverAsked, .revoked, .signIn,
        .ambiguous,
        .locked, .wrongKey, .newerFormat,
      ], needs: [.vault, .key, .network])
    command.isHidden = true
    return command
  }()
}
