extension CommandTable {
  static let providers: [CommandSpec] = [
    CommandSpec(
      name: "providers", group: .accounts, summary: "list the providers",
      about: ["Lists the providers that are built in and those that you added."],
      examples: [.init("vault providers", "all of them")],
      json: .lines(["type", "name", "protocol", "built_in"]),
      exits: [.damaged, .locked, .wrongKey, .newerFormat], needs: []),
    CommandSpec(
      name: "show-provider", group: .accounts, summary: "show a provider's definition",
      arguments: [ArgumentSpec("T")],
      about: ["Shows the definition, complete: what it extends is filled in."],
      examples: [.init("vault show-provider facebook", "one that is built in")],
      json: .document("a provider definition (Documentation/Providers.md)"),
      exits: [.damaged, .notFound, .locked, .wrongKey, .newerFormat], needs: []),
    CommandSpec(
      name: "add-provider", group: .accounts, summary: "add a provider of your own",
      arguments: [ArgumentSpec("FILE|-", kind: .file)],
      about: ["Adds a definition. `extends` starts from one that is built in."],
      examples: [.init("vault add-provider example.json", "from a file")],
      json: .object(["type", "name", "protocol", "built_in"]),
      exits: [.damaged, .notFound, .exists, .config, .locked, .wrongKey, .newerFormat],
      needs: [.vault, .key]),
    CommandSpec(
      name: "check-provider", group: .accounts, summary: "check a provider's definition",
      arguments: [ArgumentSpec("FILE|-", kind: .file)],
      about: ["Reads a definition and names what is wrong with it. Nothing is changed."],
      examples: [.init("vault check-provider example.json", "from a file")],
      json: .object(["type", "name", "protocol", "built_in"]),
      exits: [.notFound, .config], needs: []),
  ]
}
