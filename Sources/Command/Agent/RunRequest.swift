/// What `vault` asks the agent with to do a command.
///
/// Bytes: the version, `colored` or `plain`, the value of `--vault` or nothing, and the words of the
/// command line, each with a NUL behind it, which none can hold.
package struct RunRequest: Equatable, Sendable {
  /// Most bytes of what a command that may be repeated writes; more is written by the caller's process,
  /// for the agent holds no session for a slow reader.
  package static let recordLimit = 1 << 20
  /// Most bytes of a request that the agent does.
  package static let limit = 128 << 10

  /// The program that asks; another version's agent leaves the command to it.
  package let version: String
  /// Whether labels on standard error have colours.
  package let isColored: Bool
  /// What the caller took for the value of `--vault`, by which it found this agent.
  package let vault: String?
  package let arguments: [String]

  package init(_ arguments: [String], vault: String?, isColored: Bool) {
    version = Release.version
    self.isColored = isColored
    self.vault = vault
    self.arguments = arguments
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    func add(_ text: String) {
      bytes.append(contentsOf: text.utf8)
      bytes.append(0)
    }
    add(version)
    add(isColored ? "colored" : "plain")
    add(vault ?? "")
    for word in arguments { add(word) }
    return bytes
  }

  /// Reads such a request; nil where the bytes are none.
  package init?(_ bytes: [UInt8]) {
    guard bytes.last == 0, let text = String(validating: bytes.dropLast(), as: UTF8.self) else {
      return nil
    }
    let fields = text.split(separator: "\0", omittingEmptySubsequences: false).map { String($0) }
    guard fields.count >= 3, ["colored", "plain"].contains(fields[1]) else { return nil }
    version = fields[0]
    isColored = fields[1] == "colored"
    vault = fields[2].isEmpty ? nil : fields[2]
    arguments = Array(fields[3...])
  }
}
