/// One option of a command.
package struct OptionSpec: Sendable {
  package enum Presence: Sendable {
    case optional
    case required
    /// Required, and asked for by the command where a terminal is there; see ``Context/need(_:)``.
    case asked
    /// May be given several times.
    case repeated
  }

  /// Without the dashes.
  let name: String
  /// The value's name in the usage line, `FILE`; nil for a flag.
  let value: String?
  let presence: Presence
  let kind: ValueKind
  let summary: String
  /// Its short name, where it has one.
  private(set) var letter: Character?
  /// Whether the command needs the network where this option is given, and only there.
  private(set) var needsNetwork = false
  /// Whether the value may be left out. Where it is given it stands behind a `=`.
  private(set) var isValueOptional = false

  private init(
    name: String, value: String?, presence: Presence, kind: ValueKind, summary: String
  ) {
    self.name = name
    self.value = value
    self.presence = presence
    self.kind = kind
    self.summary = summary
  }

  static func flag(_ name: String, _ summary: String) -> OptionSpec {
    OptionSpec(name: name, value: nil, presence: .optional, kind: .text, summary: summary)
  }

  static func option(
    _ name: String, _ value: String, _ summary: String, presence: Presence = .optional,
    kind: ValueKind = .text
  ) -> OptionSpec {
    OptionSpec(name: name, value: value, presence: presence, kind: kind, summary: summary)
  }

  /// An option that may be given alone or with one of `choices` behind a `=`.
  static func option(
    _ name: String, maybe value: String, of choices: [String], _ summary: String
  ) -> OptionSpec {
    var option = OptionSpec(
      name: name, value: value, presence: .optional, kind: .choice(choices), summary: summary)
    option.isValueOptional = true
    return option
  }

  /// The same option, with which the command needs the network.
  var overNetwork: OptionSpec {
    var option = self
    option.needsNetwork = true
    return option
  }

  /// The same option, which `-X` names as well.
  func short(_ letter: Character) -> OptionSpec {
    var option = self
    option.letter = letter
    return option
  }

  /// As it is written: `--app APP`.
  var written: String {
    guard let value else { return "--\(name)" }
    return isValueOptional ? "--\(name)[=\(value)]" : "--\(name) \(value)"
  }

  /// The same after its short name: `-h, --help`.
  var term: String { (letter.map { "-\($0), " } ?? "") + written }

  /// As the usage line has it, by its short name where it has one: `[-i]`.
  var usage: String {
    let word = letter.map { "-\($0)" + (value.map { " \($0)" } ?? "") } ?? written
    return switch presence {
    case .optional: "[\(word)]"
    case .required, .asked: word
    case .repeated: "[\(word)]…"
    }
  }
}
