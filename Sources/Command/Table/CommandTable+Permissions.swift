extension CommandTable {
  static let permissions: [CommandSpec] = [
    CommandSpec(
      name: "add-app", group: .permissions, summary: "add an app and make its key",
      arguments: [ArgumentSpec("APP")],
      options: [
        .option("name", "N", "the app's name", presence: .required),
        .option("client", "T:C", "use client C for type T", presence: .repeated),
        .flag("sign-only", "never hand it a token"),
        .option("uid", "UID", "accept it from this user id only", presence: .repeated),
      ],
      about: [
        """
        APP is the id as you or the provider wrote it: 1 to 128 letters, digits and . _ -. The app's \
        key is shown once. An app uses its own client for a type, else the type's default.
        """,
        """
        The agent asks a program for the key, and with --uid for its user id too. vault token asks for \
        neither: whoever can unlock the vault can be any app.
        """,
      ],
      examples: [.init("vault add-app 123 --name 'Photo Bot'", "an app and its key")],
      json: .object(["id", "name", "clients", "key"]),
      exits: [.damaged, .notFound, .exists, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "apps", group: .permissions, summary: "list the apps",
      about: ["Lists the apps that the vault knows. No key is shown."],
      examples: [.init("vault apps", "all of them")],
      json: .lines(CommandSpec.JSONShape.appKeys),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "show-app", group: .permissions, summary: "show one app",
      arguments: [ArgumentSpec("APP")],
      about: ["Shows the app. What it was granted is shown by vault access --app APP."],
      examples: [.init("vault show-app 123", "by its id")],
      json: .object(CommandSpec.JSONShape.appKeys),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "remove-app", group: .permissions, summary: "remove an app and all it was granted",
      arguments: [ArgumentSpec("APP")],
      about: ["Takes back all that the app was granted and forgets its key. The ledger keeps it."],
      examples: [.init("vault remove-app 123", "by its id")],
      json: .object(["id", "name"]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "new-app-key", group: .permissions, summary: "replace an app's key",
      arguments: [ArgumentSpec("APP")],
      about: ["Makes a new key, shown once. The old one stops working at once."],
      examples: [.init("vault new-app-key 123", "by its id")],
      json: .object(["id", "key"]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "grant", group: .permissions, summary: "give an app permissions on an account",
      options: [.app, .perms(.required), .account, .audience, .until, .reason],
      about: [
        """
        The owner's own decision. Without --account it is for the one account whose type knows all \
        the permissions. A write permission without --audience is granted for only_me. An app that \
        the vault does not know yet is recorded, without a key.
        """
      ],
      examples: [
        .init("vault grant --app 123 --perms publish_actions", "one permission"),
        .init(
          "vault grant --app 123 --perms publish_actions --audience friends --until 30d",
          "for friends, for thirty days"),
      ],
      json: .object(["app", "account", "granted", "audience", "until", "entries"]),
      exits: [.damaged, .notFound, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "deny", group: .permissions,
      summary: "say no, so that the app is not asked about again",
      options: [.app, .perms(.required), .account, .audience, .until, .reason],
      about: ["Records a no. It answers a pending ask, and later asks for the same."],
      examples: [.init("vault deny --app 123 --perms publish_actions", "one permission")],
      json: .object(["app", "account", "denied", "audience", "until", "entries"]),
      exits: [.damaged, .notFound, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "revoke", group: .permissions, summary: "take permissions back",
      options: [.app, .perms(.optional), .account, .audience, .until, .reason],
      about: [
        """
        Takes back what was granted; without --perms everything, the switch in Settings. It counts \
        from the next use. A token that was handed out lives on at the provider until it expires, but \
        for an app that loses everything on a client that no other app uses: its token is taken back \
        there too.
        """
      ],
      examples: [
        .init("vault revoke --app 123", "everything"),
        .init("vault revoke --app 123 --perms publish_actions", "one permission"),
      ],
      json: .object(["app", "account", "revoked", "audience", "until", "entries"]),
      exits: [.damaged, .notFound, .tryAgain, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "request-access", group: .permissions, summary: "ask for permissions as an app does",
      options: [
        .app, .option("type", "T", "the provider", presence: .required), .perms(.required),
        .option(
          "group", "G", "read, write or readwrite", kind: .choice(["read", "write", "readwrite"])),
        .audience, .account,
      ],
      about: [
        """
        The app's own ask, by the provider's rules: read and write apart, a basic permission first, \
        an audience for write. The person is asked only where nothing was decided yet. Without a \
        terminal the ask stays pending (vault asks) and the exit is 80.
        """
      ],
      examples: [
        .init("vault request-access --app 123 --type facebook --perms email", "a first ask"),
        .init(
          "vault request-access --app 123 --type facebook --perms publish_actions --group write "
            + "--audience friends", "then a write permission"),
      ],
      json: .object(["app", "type", "account", "decision", "granted", "declined"]),
      exits: [
        .damaged, .notFound, .denied, .neverAsked, .ambiguous, .locked, .wrongKey, .newerFormat,
      ], needs: [.vault, .key]),
    CommandSpec(
      name: "asks", group: .permissions, summary: "list the asks that nobody has answered",
      about: ["An ask has a deadline. vault grant and vault deny answer it."],
      examples: [.init("vault asks", "all of them")],
      json: .lines([
        "id", "app", "type", "account", "permissions", "group", "audience", "asked_at", "deadline",
      ]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
  ]
}
