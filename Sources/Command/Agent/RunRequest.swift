internal import JSON

/// What `vault` asks the agent with to do a command.
package struct RunRequest: Sendable {
  /// Most bytes of what a command that may be repeated writes; more is written by the caller's process,
  /// for the agent holds no session for a slow reader.
  package static let recordLimit = 1 << 20
  /// Most bytes of a request that the agent does.
  package static let limit = 128 << 10

  /// The program that asks; another version's agent leaves the command to it.
  package let version: String
  package let arguments: [String]
  /// Whether labels on standard error have colours.
  package let isColored: Bool

  init(_ context: Context) {
    version = Release.version
    arguments = context.invocation.arguments
    isColored = context.terminal.showsColors
  }

  var bytes: [UInt8] {
    var object = JSONObject()
    object.add("version", version)
    object.add("arguments", arguments)
    object.add("colored", isColored)
    return Array(object.value.text.utf8)
  }

  /// Reads such a request; nil where the bytes are none.
  package init?(_ bytes: [UInt8]) {
    guard let value = try? JSONValue.parse(bytes, maximumBytes: 1 << 20),
      case .string(let version)? = value["version"], case .array(let words)? = value["arguments"],
      case .bool(let isColored)? = value["colored"]
    else { return nil }
    var arguments: [String] = []
    for word in words {
      guard case .string(let text) = word else { return nil }
      arguments.append(text)
    }
    self.version = version
    self.arguments = arguments
    self.isColored = isColored
  }
}
