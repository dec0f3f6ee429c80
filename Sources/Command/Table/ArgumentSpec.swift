/// A word of a command that is no option.
package struct ArgumentSpec: Sendable {
  package enum Presence: Sendable {
    case required
    case optional
    /// None or several; the last of a command's arguments.
    case repeated
  }

  /// As the usage line has it: `ACCOUNT`, `FILE`.
  let name: String
  let presence: Presence
  let kind: ValueKind

  init(_ name: String, _ presence: Presence = .required, kind: ValueKind = .text) {
    self.name = name
    self.presence = presence
    self.kind = kind
  }

  var usage: String {
    switch presence {
    case .required: name
    case .optional: "[\(name)]"
    case .repeated: "[\(name)]…"
    }
  }
}

/// What a value is, for completions and for the check that needs nothing but the command line.
package enum ValueKind: Sendable {
  case text
  case file
  /// One of these words, and no other.
  case choice([String])
  /// The name of a command.
  case command
}
