package import Time

/// What a command works with: its arguments, where it writes, where its secrets come from.
package struct Context {
  package let invocation: Invocation
  package let arguments: ParsedArguments
  package let terminal: Terminal
  /// The highest-ranking of what failed so far, for a command that goes on.
  private(set) var worst: CommandFailure?

  init(_ invocation: Invocation, _ arguments: ParsedArguments, _ terminal: Terminal) {
    self.invocation = invocation
    self.arguments = arguments
    self.terminal = terminal
  }

  package var secrets: SecretSource { SecretSource(invocation, arguments, terminal) }

  package var now: Timestamp { invocation.clock.now() }

  /// The vault file of this run.
  package func vaultPath() throws(CommandFailure) -> String {
    try VaultLocation.path(arguments, invocation.environment)
  }

  /// Tells of a failure after which the command goes on with the next thing. The command's exit is
  /// the highest-ranking of all that happened.
  package mutating func report(_ failure: CommandFailure) {
    terminal.error(failure)
    if let worst, worst.status.combined(with: failure.status) == worst.status { return }
    worst = failure
  }

  /// A usage error of this command.
  package func usage(_ message: String) -> CommandFailure {
    CommandFailure(
      .usage, "\(arguments.command.name): \(message)", hint: "vault help \(arguments.command.name)")
  }

  // MARK: Arguments

  /// The argument at `index`, which the table says is required.
  package func argument(_ index: Int) -> String { arguments.arguments[index] }

  /// The value of an option that is required, asked for where it was not given and a terminal is
  /// there.
  ///
  /// - Throws: `usage` where it was not given and nobody can be asked.
  package func need(_ name: String) throws(CommandFailure) -> String {
    if let text = arguments.text(name) { return text }
    let missing = usage("--\(name) is missing")
    let question: Question
    do {
      question = try Question(invocation)
    } catch {
      throw missing
    }
    let summary = arguments.command.option(named: name)?.summary ?? name
    let answer = try question.text("--\(name), \(summary): ")
    if answer.isEmpty { throw missing }
    return answer
  }

  /// The words of a comma-separated list, in order, each once. Nil where it was not given.
  package func list(_ name: String) throws(CommandFailure) -> [String]? {
    guard let text = arguments.text(name) else { return nil }
    var words: [String] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      if word.isEmpty { throw usage("--\(name) has an empty name between its commas") }
      if !words.contains(String(word)) { words.append(String(word)) }
    }
    return words
  }

  package func integer(
    _ name: String, in range: ClosedRange<Int64>
  ) throws(CommandFailure) -> Int64? {
    try arguments.text(name).map { text throws(CommandFailure) in
      guard let value = Int64(text), range.contains(value) else {
        throw usage("--\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return value
    }
  }

  /// Bytes: `64M`, `256MiB`, `1G`, in powers of 1024.
  package func size(_ name: String) throws(CommandFailure) -> UInt64? {
    try arguments.text(name).map { text throws(CommandFailure) in
      guard let bytes = SizeText.parse(text) else {
        throw usage("--\(name) takes a size such as 64M, 256M or 1G")
      }
      return bytes
    }
  }

  /// Which way a duration counts.
  package enum Direction: Sendable {
    case fromNow
    case ago
  }

  /// A time: `2026-11-30T06:10:00Z`, the day `2026-11-30` as its first second in UTC, or a duration.
  package func time(_ name: String, _ direction: Direction) throws(CommandFailure) -> Timestamp? {
    try arguments.text(name).map { text throws(CommandFailure) in
      if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") {
        return time
      }
      guard let seconds = DurationText.parse(text), seconds <= 100 * 366 * 86_400 else {
        throw usage("--\(name) takes a time such as 2026-11-30, 2026-11-30T06:10:00Z or 30d")
      }
      return Timestamp(
        seconds: now.seconds + (direction == .fromNow ? seconds : -seconds))
    }
  }
}
