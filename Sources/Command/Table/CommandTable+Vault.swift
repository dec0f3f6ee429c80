extension CommandTable {
  static let vault: [CommandSpec] = [
    CommandSpec(
      name: "init", group: .vault, summary: "make a vault",
      options: [
        .option(
          "key-file", "FILE", "a key file that opens it, made where it does not exist", kind: .file),
        .flag("no-recovery", "make no recovery code"),
        .option("kdf-memory", "SIZE", "memory that a guess at the passphrase costs: 64M, 256M, 1G"),
        .option(
          "anchor", "RULE", "where the head outside the file is missing: adopt, required or none",
          kind: .choice(["adopt", "required", "none"])),
        .option("anchor-file", "FILE", "keep the head outside the vault in FILE", kind: .file),
      ],
      about: [
        """
        Makes the vault file, mode 0600, and asks for its passphrase. The recovery code is shown \
        once: keep it on paper. An existing path is refused.
        """,
        """
        With --key-file alone the vault has no passphrase, the way for servers. A passphrase and a \
        key file given together open it each by itself.
        """,
      ],
      examples: [
        .init("vault init", "on a terminal"),
        .init("vault init --key-file /etc/vault.key --no-recovery", "on a server"),
      ],
      json: .object(["vault", "path", "recovery_code"]),
      exits: [.exists, .locked], needs: []),
    CommandSpec(
      name: "change-passphrase", group: .vault, summary: "change the passphrase",
      options: [
        .option("new-passphrase-file", "FILE", "read the new one from FILE", kind: .file),
        .option("new-passphrase-fd", "N", "read the new one from file descriptor N"),
      ],
      exclusive: [["new-passphrase-file", "new-passphrase-fd"]],
      about: [
        """
        The passphrase or key that opens the vault now is had as always, the new passphrase by these \
        options or by a prompt. A backup made before still opens with the old one: vault rotate-key.
        """
      ],
      examples: [.init("vault change-passphrase", "on a terminal")],
      json: .object(["slot", "kind"]),
      exits: [.damaged, .notFound, .tryAgain, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "keys", group: .vault, summary: "list what opens the vault",
      about: ["Lists the slots: passphrase, key file, recovery code. No key is shown."],
      examples: [.init("vault keys", "all of them")],
      json: .lines(["slot", "kind", "created_at", "kdf", "operations", "memory", "in_use"]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "add-key", group: .vault, summary: "add a key file or a recovery code",
      options: [
        .option(
          "key-file", "FILE", "a key file, made where it does not exist", kind: .file),
        .flag("recovery", "a recovery code, shown once"),
      ],
      exclusive: [["key-file", "recovery"]], oneOf: [["key-file", "recovery"]],
      about: [
        """
        Adds a way to open the vault. Here --key-file names the new key; the vault is opened by a \
        passphrase or by $VAULT_KEY_FILE.
        """
      ],
      examples: [
        .init("vault add-key --key-file /etc/vault.key", "for a server"),
        .init("vault add-key --recovery", "for a drawer"),
      ],
      json: .object(["slot", "kind", "key_file", "recovery_code"]),
      exits: [.damaged, .notFound, .exists, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "remove-key", group: .vault, summary: "remove a passphrase, key file or recovery code",
      arguments: [ArgumentSpec("N")],
      about: ["Removes slot N (vault keys). The last one is refused."],
      examples: [.init("vault remove-key 2", "by its number")],
      json: .object(["slot", "kind"]),
      exits: [.damaged, .notFound, .tryAgain, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "rotate-key", group: .vault, summary: "seal everything anew under a new key",
      about: [
        """
        Checks the whole vault, makes a new key and seals every row under it, all of it or nothing: \
        where it is cut off the vault stays as it was. The slots that were not used to open the vault \
        are removed and named, and a new recovery code is shown.
        """
      ],
      examples: [.init("vault rotate-key", "after a backup was lost")],
      json: .object(["epoch", "rows", "removed", "recovery_code"]),
      exits: [.damaged, .notFound, .tryAgain, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "backup", group: .vault, summary: "copy the vault into a file",
      arguments: [ArgumentSpec("FILE", kind: .file)],
      about: [
        """
        Makes a whole copy, mode 0600, while others use the vault, and checks it. It opens with the \
        same passphrase and keys. An existing file is refused.
        """
      ],
      examples: [.init("vault backup accounts.backup", "into a new file")],
      json: .object(["path", "bytes", "entries", "root"]),
      exits: [.damaged, .notFound, .exists, .tryAgain, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "restore", group: .vault, summary: "make a vault from a backup",
      arguments: [ArgumentSpec("FILE", kind: .file)],
      options: [
        .option("to", "PATH", "the new vault file", presence: .required, kind: .file),
        .flag("replaces", "the old vault is gone for good: its files are not taken any more"),
      ],
      about: [
        """
        Checks the backup and makes a vault of it at PATH, where nothing may be yet. Credentials \
        that the provider may have replaced since are marked stale, and the ledger starts a new \
        branch.
        """
      ],
      examples: [.init("vault restore accounts.backup --to accounts.vault", "at a new path")],
      json: .object(["vault", "path", "branch", "entries", "stale"]),
      exits: [.damaged, .notFound, .exists, .locked, .wrongKey, .newerFormat], needs: [.key]),
    CommandSpec(
      name: "doctor", group: .vault, summary: "look for trouble around the vault",
      about: [
        """
        Checks modes and owners of the files, the file system, the libraries, the machine's memory \
        and the clock, and says what to do. Nothing is changed.
        """
      ],
      examples: [.init("vault doctor", "all of it")],
      json: .lines(["check", "state", "detail", "hint"]),
      exits: [.failed, .damaged, .notFound, .newerFormat], needs: [.vault]),
    CommandSpec(
      name: "reset-anchor", group: .vault, summary: "accept a vault that was put back on purpose",
      about: [
        """
        Accepts the file as it is after its outside head was lost or an older copy was put back on \
        purpose. It is recorded, and the ledger starts a new branch.
        """
      ],
      examples: [.init("vault reset-anchor", "after a copy was put back")],
      json: .object(["vault", "branch", "entry"]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "agent", group: .vault, summary: "hold the unlocked vault and serve apps",
      options: [
        .flag("background", "return once it is ready, and go on in the background"),
        .flag(
          "keep-key",
          "lend the key to no command: what the agent does not do itself asks as without one"),
        .option(
          "lock-after", "DURATION", "lock when it was not used for so long: 10m, or never"),
        .option(
          "lock-at-most", "DURATION", "lock so long after it was unlocked: 2h, or never"),
        .option("apps-socket", "PATH", "put the socket for apps there", kind: .file),
        .option("apps-mode", "MODE", "its permission bits: 0600, or 0660 with --apps-group"),
        .option("apps-group", "GROUP", "give it to this group"),
        .option(
          "app-rate", "N", "requests that one app may make in a second (1000), for a moment twice"),
        .option(
          "log-format", "FORMAT", "write the log as text or json",
          kind: .choice(["text", "json"])),
        .option(
          "log-level", "LEVEL", "the least that is logged: error, warning, info or debug",
          kind: .choice(["error", "warning", "info", "debug"])),
      ],
      about: [
        """
        Answers on two Unix sockets in ${XDG_RUNTIME_DIR}/vault/ID: on owner.sock whoever owns it, on \
        apps.sock programs that show an app key. Renews what is due meanwhile, and runs the hooks.
        """,
        """
        Without a passphrase or a key it starts locked. It locks itself after 10 minutes without use \
        and 2 hours in all, but not where it is unlocked by a key file or a credential of systemd's; \
        on SIGUSR1 and SIGHUP, and at the end of the login session. SIGTERM ends it.
        """,
        """
        Its log goes to standard error; in the background it goes nowhere. It takes sockets named \
        owner and apps from systemd, and tells it when it is ready.
        """,
      ],
      examples: [
        .init("vault agent --background", "for this login session"),
        .init("vault agent --apps-socket /run/vault/apps.sock --apps-group bots", "for a group"),
      ],
      json: .none,
      exits: [.failed, .damaged, .notFound, .exists, .tryAgain, .config, .locked, .wrongKey],
      needs: [.vault, .network]),
    CommandSpec(
      name: "unlock", group: .vault, summary: "give the running agent the key",
      about: [
        """
        Hands the passphrase or key to the agent of this vault, which holds it until it is locked. \
        Meanwhile no command on this vault asks for a passphrase: each is done by the agent or with \
        the key that it lends. A wrong one changes nothing.
        """
      ],
      examples: [.init("vault unlock", "for the commands that follow")],
      json: .object(AgentStanding.keys),
      exits: [.damaged, .notFound, .tryAgain, .config, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "lock", group: .vault, summary: "have the running agent forget the key",
      about: [
        """
        Locks the agent of this vault, which goes on and waits for vault unlock. What it does at the \
        moment is finished.
        """
      ],
      examples: [.init("vault lock", "before leaving")],
      json: .object(AgentStanding.keys),
      exits: [.notFound, .tryAgain, .config], needs: [.vault]),
    CommandSpec(
      name: "status", group: .vault, summary: "say whether the vault's agent runs and is unlocked",
      about: [
        """
        Exit 0 where the agent of this vault is unlocked, 84 where it is locked, 66 where none runs; \
        the state is printed in each case: unlocked, locked or none.
        """
      ],
      examples: [.init("vault status", "of the usual vault")],
      json: .object(AgentStanding.keys),
      exits: [.notFound, .tryAgain, .config, .locked], needs: [.vault]),
  ]
}
