import Ledger

extension CommandTable {
  /// The events that `--event` takes.
  static let events = Event.allCases.map(\.rawValue)

  static let ledger: [CommandSpec] = [
    CommandSpec(
      name: "history", group: .ledger, summary: "show what was done, when and by whom",
      options: [
        .option("app", "APP", "only what concerns this app"),
        .option("account", "ACCOUNT", "only what concerns this account"),
        .option("event", "E", "only events of this name", kind: .choice(events)),
        .option("since", "TIME", "only from TIME on: 2026-11-30, or 12h ago as 12h"),
        .option("limit", "N", "only the last N"),
        .flag("follow", "wait for more, until interrupted"),
      ],
      about: ["Shows the entries of the ledger, oldest first."],
      examples: [
        .init("vault history --app 123 --since 30d", "an app's last thirty days"),
        .init("vault history --event use_refused --limit 10", "the last refusals"),
      ],
      json: .lines([
        "entry", "time", "event", "actor", "app", "account", "permissions", "audience", "reason",
        "evidence",
      ]),
      exits: [.damaged, .notFound, .ambiguous, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "verify", group: .ledger, summary: "check the whole vault and its ledger",
      options: [
        .option(
          "against", "CHECKPOINT", "a file with a checkpoint that you kept", kind: .file)
      ],
      about: [
        """
        Checks every row, every entry, the tree, its head and the grants against the ledger, and \
        names the first that is wrong. Without a passphrase or key it checks what can be checked \
        without one.
        """
      ],
      examples: [
        .init("vault verify", "all of it"),
        .init("vault verify --against checkpoint.txt", "and that nothing was put back"),
      ],
      json: .object(["entries", "root", "state_matches", "anchored", "checked"]),
      exits: [.damaged, .notFound, .wrongKey, .newerFormat], needs: [.vault]),
    CommandSpec(
      name: "checkpoint", group: .ledger, summary: "print the signed head of the ledger",
      about: [
        """
        Prints a signed note in the C2SP checkpoint format. Keep it elsewhere: vault verify \
        --against finds a vault that was put back to an older copy.
        """
      ],
      examples: [.init("vault checkpoint >checkpoint.txt", "to keep")],
      json: .object(["origin", "size", "root", "checkpoint"]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
    CommandSpec(
      name: "prove", group: .ledger, summary: "prove that an entry is in the ledger",
      arguments: [ArgumentSpec("ENTRY", .optional)],
      options: [
        .option("against", "CHECKPOINT", "prove that an older head is a part of it", kind: .file)
      ],
      exclusive: [["ENTRY", "against"]], oneOf: [["ENTRY", "against"]],
      about: [
        """
        Prints the entry's inclusion proof as a C2SP tlog-proof, or with --against a consistency \
        proof from the head in that checkpoint. Entries are numbered from 0.
        """
      ],
      examples: [
        .init("vault prove 12", "entry 12 is in it"),
        .init("vault prove --against checkpoint.txt", "nothing was taken out since"),
      ],
      json: .object(["entry", "size", "root", "proof"]),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: [.vault, .key]),
  ]
}
