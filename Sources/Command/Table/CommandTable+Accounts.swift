extension CommandTable {
  static let accounts: [CommandSpec] = [
    CommandSpec(
      name: "add-account", group: .accounts, summary: "add an account and its credential",
      options: [
        .option("type", "T", "the provider (vault providers)", presence: .asked),
        .option("username", "U", "the name at the provider", presence: .asked),
        .option("user-id", "ID", "the provider's own id of the user"),
        .option("description", "D", "a note of your own"),
        .option("client", "CLIENT_ID", "the client that the credential was issued to"),
        .option(
          "response", "FILE|-", "the provider's token response, - for standard input", kind: .file),
        .flag("token-stdin", "read a bare bearer token from standard input"),
        .signIn.overNetwork,
        .perms(.optional),
        .flag("register", "with --sign-in: register a client at a server that gives them"),
        .flag("replace", "in the place of a credential that is still good"),
      ],
      exclusive: [["response", "token-stdin", "sign-in"]],
      about: [
        """
        Adds an account. With --response the credential is taken from the provider's token response \
        as it came, JSON or form-encoded, OAuth 1.0a or 2.0. With --sign-in the person signs in at \
        the provider, as with vault sign-in, and the account is the one that comes back; --perms is \
        what is asked for. With none of these the account is made without a credential.
        """,
        "On a terminal, a type or username that was not given is asked for.",
      ],
      examples: [
        .init(
          "vault add-account --type facebook --username lestat.ali --response token.json",
          "from a token response"),
        .init(
          "vault add-account --type x --username lestat --token-stdin <token.txt",
          "from a bare token"),
        .init("vault add-account --type x --sign-in", "by signing in"),
      ],
      json: .object(CommandSpec.JSONShape.accountKeys),
      exits: [
        .damaged, .notFound, .exists, .tryAgain, .denied, .config, .signIn, .ambiguous, .locked,
        .wrongKey, .newerFormat, .wrongUser,
      ], needs: [.vault, .key]),
    CommandSpec(
      name: "sign-in", group: .accounts, summary: "sign in at the provider again",
      arguments: [ArgumentSpec("ACCOUNT")],
      options: [
        .option("client", "CLIENT_ID", "the client that the token is for"),
        .option("app", "APP", "the app that it is for: its own client, and what it was granted"),
        .perms(.optional),
        .flag("browser", "in a browser of this machine, which comes back by itself"),
        .flag("device", "on any device, with a code to type there"),
        .flag("pin", "in any browser, with a number to type here"),
        .option("timeout", "DURATION", "how long to wait, 5m at most"),
        .flag("register", "register a client at a server that gives them"),
      ],
      exclusive: [["client", "app"], ["browser", "device", "pin"]],
      about: [
        """
        Opens the provider's page ($BROWSER, else xdg-open) and waits until the person has said yes \
        there. The address is always printed on standard error too, so that it can be opened \
        elsewhere. The token takes the old one's place; what apps were granted stays.
        """,
        """
        Without --perms it asks for what the credential had, else for what the app was granted, else \
        for the provider's basic permission. Somebody else's answer changes nothing, and so does a \
        sign-in that was cut off.
        """,
      ],
      examples: [
        .init("vault sign-in x:lestat", "in the browser"),
        .init("vault sign-in github:lestat --device", "where there is no browser"),
        .init("vault sign-in x:lestat --perms tweet.read,tweet.write", "asking for more"),
      ],
      json: .object(CommandSpec.JSONShape.accountKeys),
      exits: [
        .damaged, .notFound, .tryAgain, .denied, .config, .signIn, .ambiguous, .locked, .wrongKey,
        .newerFormat, .wrongUser,
      ], needs: [.vault, .key, .network]),
    CommandSpec(
      name: "accounts", group: .accounts, summary: "list the accounts",
      options: [
        .option("type", "T", "only those of this provider"),
        .option("app", "APP", "only those on which this app was granted something"),
      ],
      about: [
        """
        Lists the accounts and where their credentials stand: absent, valid, expiring, expired, \
        rejected, uncertain (a renewal was cut off) or stale (restored from a backup).
        """,
        """
        Elsewhere an ACCOUNT is its id, a prefix of it that fits no other (6 characters or more), \
        type:username, type:user_id, or a username that only one account has.
        """,
      ],
      examples: [.init("vault accounts --type facebook", "those of one provider")],
      json: .lines(CommandSpec.JSONShape.accountKeys),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "show-account", group: .accounts, summary: "show one account",
      arguments: [ArgumentSpec("ACCOUNT")],
      about: ["Shows the account and the state of its credentials. No token is shown."],
      examples: [.init("vault show-account facebook:lestat.ali", "by type and username")],
      json: .object(CommandSpec.JSONShape.accountKeys),
      exits: [.damaged, .notFound, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "rename-account", group: .accounts, summary: "change an account's username",
      arguments: [ArgumentSpec("ACCOUNT")],
      options: [.option("username", "U", "the new name", presence: .required)],
      about: [
        """
        The user was renamed at the provider. The account keeps its id, its credentials, its \
        permissions and the history of its names.
        """
      ],
      examples: [.init("vault rename-account facebook:lestat.ali --username lestat", "a new name")],
      json: .object(CommandSpec.JSONShape.accountKeys),
      exits: [.damaged, .notFound, .exists, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "remove-account", group: .accounts, summary: "remove an account and its credentials",
      arguments: [ArgumentSpec("ACCOUNT")],
      about: [
        """
        Removes the account, its credentials and what was granted on it. The ledger keeps what was \
        done. The provider is told that its tokens are over; where it cannot be reached that waits in \
        the vault, is tried again, and the exit is 75.
        """
      ],
      examples: [.init("vault remove-account facebook:lestat.ali", "by type and username")],
      json: .object(["id", "type", "username"]),
      exits: [.damaged, .notFound, .tryAgain, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "add-client", group: .accounts, summary: "add a registration at a provider",
      options: [
        .option("type", "T", "the provider (vault providers)", presence: .required),
        .option("client-id", "C", "the id that the provider gave it", presence: .required),
        .flag("client-secret-stdin", "read the client's secret from standard input"),
        .option("name", "N", "a name of your own"),
        .option("redirect", "URI", "the redirect address registered with it"),
      ],
      about: [
        """
        A token belongs to a user and to a client, the registration of a program at the provider. \
        The first client of a type is its default.
        """
      ],
      examples: [
        .init(
          "vault add-client --type facebook --client-id 123 --client-secret-stdin <secret.txt",
          "with its secret")
      ],
      json: .object(CommandSpec.JSONShape.clientKeys),
      exits: [.damaged, .notFound, .exists, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "clients", group: .accounts, summary: "list the clients",
      about: ["Lists the registrations at providers. No secret is shown."],
      examples: [.init("vault clients", "all of them")],
      json: .lines(CommandSpec.JSONShape.clientKeys),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "remove-client", group: .accounts, summary: "remove a client",
      arguments: [ArgumentSpec("T:C")],
      about: ["Removes a registration, named by its type and client id, and its secret."],
      examples: [.init("vault remove-client facebook:123", "by type and client id")],
      json: .object(["type", "client_id"]),
      exits: [.damaged, .notFound, .exists, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
  ]
}
