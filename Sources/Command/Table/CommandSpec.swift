/// One command as data: parsing, help, the manual page and the completions all come from it.
package struct CommandSpec: Sendable {
  /// What a person wants, in the order of the help screen.
  package enum Group: String, CaseIterable, Sendable {
    case accounts
    case permissions
    case using
    case ledger
    case vault
    case help

    var title: String {
      switch self {
      case .accounts: "accounts"
      case .permissions: "permissions"
      case .using: "using them"
      case .ledger: "the ledger"
      case .vault: "the vault"
      case .help: "this program"
      }
    }
  }

  /// What must be there before the command can do anything.
  package struct Needs: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// A vault file.
    static let vault = Needs(rawValue: 1)
    /// A passphrase or key that opens it.
    static let key = Needs(rawValue: 2)
    /// What `vault-agent` links. Its function stands in the registry of `NetworkCommand`.
    static let network = Needs(rawValue: 4)
  }

  /// What `--json` prints on standard output: the keys, in order.
  package enum JSONShape: Sendable {
    case none
    /// One object.
    case object([String])
    /// One object a line.
    case lines([String])
    /// One object, whose members are told elsewhere.
    case document(String)
  }

  package struct Example: Sendable {
    let command: String
    let note: String
    init(_ command: String, _ note: String) {
      self.command = command
      self.note = note
    }
  }

  package let name: String
  let group: Group
  /// One line, a verb first, lower case.
  let summary: String
  var arguments: [ArgumentSpec] = []
  var options: [OptionSpec] = []
  /// Options of which at most one may be given, by name.
  var exclusive: [[String]] = []
  /// Options or arguments of which at least one must be given, by name.
  var oneOf: [[String]] = []
  /// Paragraphs.
  let about: [String]
  let examples: [Example]
  let json: JSONShape
  /// The exits it may take beside `ok`, `usage` and `io`, which every command may.
  let exits: [ExitStatus]
  let needs: Needs
  /// Works, and is named nowhere but here: a tool for whoever builds the product.
  var isHidden = false

  /// The option of this name, the command's own before the global one.
  func option(named name: String) -> OptionSpec? {
    options.first { $0.name == name } ?? globals.first { $0.name == name }
  }

  /// The global options that have a meaning for this command and that it does not redefine.
  var globals: [OptionSpec] {
    GlobalOptions.all.filter { global in !options.contains { $0.name == global.name } }
  }

  /// All that is behind `vault` on the usage line, one piece for each option and argument.
  var usagePieces: [String] {
    [name] + arguments.map(\.usage) + usageOptions
  }

  private var usageOptions: [String] {
    var done: Set<String> = []
    var pieces: [String] = []
    for option in options where !done.contains(option.name) {
      guard let set = (exclusive + oneOf).first(where: { $0.contains(option.name) }) else {
        pieces.append(option.usage)
        continue
      }
      done.formUnion(set)
      let members = options.filter { set.contains($0.name) }.map(\.written)
      let isNeeded = oneOf.contains { $0.contains(option.name) }
      let joined = members.joined(separator: " | ")
      pieces.append(
        isNeeded && !set.contains { name in arguments.contains { $0.name == name } }
          ? (members.count > 1 ? "(\(joined))" : joined) : "[\(joined)]")
    }
    return pieces
  }
}
