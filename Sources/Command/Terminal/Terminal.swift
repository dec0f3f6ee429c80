internal import CSystem
package import Sodium

/// All that the command writes.
///
/// Standard output carries data only, standard error the rest. Data are held back in memory and
/// written in large pieces; a message on standard error is written after the data before it, so that
/// both keep their order where they go to the same place.
package final class Terminal {
  private let output: Int32
  private let errorOutput: Int32
  /// What is written to in their place, where the run is another process's.
  private let record: OutputRecord?
  private var held: [UInt8] = []
  /// Set once a write failed: what follows would leave a hole in the data.
  private var outputFailure: CommandFailure?
  private var progressIsShown = false
  private let errorIsTerminal: Bool
  private let isColored: Bool

  package let printsJSON: Bool
  private let isQuiet: Bool
  private let isVerbose: Bool
  /// The options of this run that say which vault is meant and what opens it. A hint that names a
  /// command of the vault has them too, or it would look at another vault when it is pasted.
  var vaultOptions: [String] = []

  private static let heldLimit = 32_768

  init(_ invocation: Invocation, json: Bool, quiet: Bool, verbose: Bool) {
    output = invocation.standardOutput
    errorOutput = invocation.standardError
    printsJSON = json
    isQuiet = quiet
    isVerbose = verbose
    record = invocation.hosting?.record
    errorIsTerminal = record == nil && Self.isTerminal(errorOutput)
    let variable = { (name: String) in (try? invocation.environment.value(name)) ?? nil }
    isColored =
      invocation.hosting?.isColored
      ?? (errorIsTerminal && variable("NO_COLOR") == nil && variable("TERM") != "dumb")
  }

  /// Whether labels on standard error have colours.
  var showsColors: Bool { isColored }

  /// How many characters a line of standard error has, and whether it shows colours. Nil where it is
  /// no terminal, or one that does not tell.
  package var screen: (columns: Int, isColored: Bool)? {
    let columns = Int(vault_terminal_columns(errorOutput))
    return columns > 0 ? (columns, isColored) : nil
  }

  // MARK: Data

  /// Writes data as they are.
  ///
  /// - Throws: `io` where standard output does not take them. Silent where its reader went away.
  package func data(_ text: String) throws(CommandFailure) {
    if let outputFailure { throw outputFailure }
    held.append(contentsOf: text.utf8)
    if held.count >= Self.heldLimit { try flush() }
  }

  /// Writes a line of data.
  package func line(_ text: String) throws(CommandFailure) { try data(text + "\n") }

  /// Writes a secret. It goes from its own memory to the kernel and is copied nowhere.
  package func data(_ secret: borrowing SecretBytes) throws(CommandFailure) {
    try flush()
    let error = secret.withBytes { write($0, to: .output) }
    try check(error)
  }

  /// Returns once the kernel has all that was written so far.
  package func flush() throws(CommandFailure) {
    if let outputFailure { throw outputFailure }
    if held.isEmpty { return }
    hideProgress()
    let error = unsafe write(held.span.bytes, to: .output)
    held.removeAll(keepingCapacity: true)
    try check(error)
  }

  /// Waits, and answers whether somebody still reads standard output.
  package func waitWhileRead(milliseconds: Int64) -> Bool {
    vault_wait_while_read(output, milliseconds) == 1
  }

  /// Writes data from any thread, for a body that comes while the command waits. What was written
  /// before must be flushed. It answers with the system's error, 0 for none, which ``failure(of:)`` tells.
  package var dataWriter: @Sendable (RawSpan) -> Int32 {
    let (descriptor, record) = (output, record)
    return { bytes in Self.write(bytes, to: descriptor, record, .output) }
  }

  /// Whether a person sees the data at once.
  package var outputIsTerminal: Bool { Self.isTerminal(output) }

  /// What an error of a write to standard output means, silent where the reader went away; nil for 0.
  package static func failure(of error: Int32) -> CommandFailure? {
    switch error {
    case 0: nil
    case SystemText.brokenPipe: .readerGone
    default: CommandFailure(.io, "standard output: \(SystemText.of(error))")
    }
  }

  private func check(_ error: Int32) throws(CommandFailure) {
    guard let failure = Self.failure(of: error) else { return }
    outputFailure = failure
    held = []
    throw failure
  }

  // MARK: Messages

  /// `vault: error: …` and its hint.
  package func error(_ failure: CommandFailure) {
    if failure.isSilent { return }
    message(label: "error: ", failure.message, color: "31")
    for candidate in failure.candidates { aside("  \(EscapedText.of(candidate))\n") }
    if let hint = failure.hint { self.hint(hint) }
  }

  /// `vault: hint: …`, a command that works when it is pasted.
  package func hint(_ text: String) {
    if !isQuiet { message(label: "hint: ", placed(text), color: "36") }
  }

  private func placed(_ hint: String) -> String {
    let words = hint.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard !vaultOptions.isEmpty, words.count >= 2, words[0] == "vault",
      let command = CommandTable.command(named: String(words[1])),
      command.needs.contains(.vault) || command.name == "init"
    else { return hint }
    var own: [String] = []
    for option in vaultOptions {
      let name = String(option.prefix { $0 != " " })
      // What the hint says itself, and an option that means another thing to this command.
      let isOther = command.options.contains { "--\($0.name)" == name }
      if !isOther, !hint.contains(name) { own.append(option) }
    }
    return ([words[0] + " " + words[1]] + own.map { $0[...] } + words.dropFirst(2))
      .joined(separator: " ")
  }

  /// `vault: …`: what the person should know though nothing failed.
  package func note(_ text: String) {
    if !isQuiet { message(label: "", text, color: nil) }
  }

  /// `vault: warning: …`: said even to whoever wants no notes.
  package func warning(_ text: String) { message(label: "warning: ", text, color: "33") }

  /// A note for --verbose.
  package func detail(_ text: String) {
    if isVerbose { message(label: "", text, color: nil) }
  }

  /// Text for standard error that is neither error nor note: the help screen of a wrong call, the
  /// accounts among which to choose.
  package func aside(_ text: String) {
    try? flush()
    hideProgress()
    writeError(text)
  }

  /// The object that ends standard error with --json.
  func errorObject(_ failure: CommandFailure) {
    guard printsJSON else { return }
    var error = JSONObject()
    error.add("code", failure.status.name)
    error.add("message", EscapedText.of(failure.message))
    error.add("hint", failure.hint.map(placed))
    var object = JSONObject()
    object.add("error", error)
    aside(object.line + "\n")
  }

  /// A message is one line, whatever it was made of.
  private func message(label: String, _ text: String, color: String?) {
    let shownLabel =
      if let color, isColored, !label.isEmpty { "\u{1b}[1;\(color)m\(label)\u{1b}[0m" } else {
        label
      }
    aside("vault: \(shownLabel)\(EscapedText.of(text, limit: 2000))\n")
  }

  // MARK: Progress

  /// Shows how far long work is, in a line that the next message or data replaces. Nothing where
  /// standard error is no terminal.
  package func progress(_ text: String) {
    guard errorIsTerminal, !isQuiet else { return }
    writeError("\r\u{1b}[K\(EscapedText.of(text, limit: 78))")
    progressIsShown = true
  }

  /// ``progress(_:)`` for any thread; nil where none is shown. ``hideProgress()`` ends it.
  package var progressWriter: (@Sendable (String) -> Void)? {
    guard errorIsTerminal, !isQuiet else { return nil }
    progressIsShown = true
    let write = errorWriter
    return { text in write("\r\u{1b}[K\(EscapedText.of(text, limit: 78))") }
  }

  package func hideProgress() {
    guard progressIsShown else { return }
    writeError("\r\u{1b}[K")
    progressIsShown = false
  }

  /// Writes to standard error from any thread, for what is shown while a command waits. It knows
  /// nothing of a progress line.
  package var errorWriter: @Sendable (String) -> Void {
    let (descriptor, record) = (errorOutput, record)
    return { text in
      _ = unsafe Self.write(Array(text.utf8).span.bytes, to: descriptor, record, .error)
    }
  }

  // MARK: System

  static func isOpen(_ descriptor: Int32) -> Bool {
    var facts = vault_descriptor_facts()
    // Our own structure, lent for the call.
    return unsafe vault_describe(descriptor, &facts) == 0
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { vault_is_terminal(descriptor) == 1 }

  /// What fails here has nowhere to be told.
  private func writeError(_ text: String) {
    _ = unsafe write(Array(text.utf8).span.bytes, to: .error)
  }

  /// Writes what another run recorded.
  ///
  /// - Throws: `io`, as ``data(_:)-(String)``.
  func write(recorded bytes: RawSpan, to stream: OutputRecord.Stream) throws(CommandFailure) {
    let error = write(bytes, to: stream)
    if stream == .output { try check(error) }
  }

  private func write(_ bytes: RawSpan, to stream: OutputRecord.Stream) -> Int32 {
    Self.write(bytes, to: stream == .output ? output : errorOutput, record, stream)
  }

  private static func write(
    _ bytes: RawSpan, to descriptor: Int32, _ record: OutputRecord?, _ stream: OutputRecord.Stream
  ) -> Int32 {
    if let record {
      record.write(bytes, to: stream)
      return 0
    }
    return unsafe bytes.withUnsafeBytes { buffer in
      // The span's memory, lent until the closure returns; the kernel copies it.
      guard let start = buffer.baseAddress else { return 0 }
      return unsafe vault_write_all(
        descriptor, start.assumingMemoryBound(to: UInt8.self), buffer.count)
    }
  }
}
