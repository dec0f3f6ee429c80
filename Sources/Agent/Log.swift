internal import Command
package import Time

/// What the agent tells on standard error: a line for each thing that happened, as text or as JSON.
///
/// A line has a time, a level, a message and named values. Only texts that are no secret are given to
/// it; control characters in them are escaped.
package struct Log: Sendable {
  package enum Level: Int, Comparable, Sendable {
    case error
    case warning
    case info
    case debug

    package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }

    var name: String {
      switch self {
      case .error: "error"
      case .warning: "warning"
      case .info: "info"
      case .debug: "debug"
      }
    }
  }

  private let limit: Level
  private let isJSON: Bool
  private let clock: Clock
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - limit: The least important level that is written.
  ///   - write: Takes one line with its newline, on any thread.
  package init(
    limit: Level = .info, isJSON: Bool = false, clock: Clock = .system,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.limit = limit
    self.isJSON = isJSON
    self.clock = clock
    self.write = write
  }

  package func info(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    line(.info, message, values)
  }

  package func warning(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    line(.warning, message, values)
  }

  package func error(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    line(.error, message, values)
  }

  package func debug(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    line(.debug, message, values)
  }

  private func line(_ level: Level, _ message: String, _ values: KeyValuePairs<String, String>) {
    guard level <= limit else { return }
    if isJSON {
      var object = JSONObject()
      object.add("time", clock.now())
      object.add("level", level.name)
      object.add("message", message)
      for (name, value) in values { object.add(name, value) }
      write(object.line + "\n")
      return
    }
    var text = "\(clock.now()) \(level.name) \(EscapedText.of(message))"
    for (name, value) in values { text += " \(name)=\(EscapedText.of(value))" }
    write(text + "\n")
  }
}
