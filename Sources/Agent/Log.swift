internal import Command
internal import JSON
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

    /// Nil for a word that is no level.
    package init?(named name: String) {
      guard let level = [Level.error, .warning, .info, .debug].first(where: { $0.name == name })
      else { return nil }
      self = level
    }

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
  private let output: @Sendable (String) -> Void

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
    output = write
  }

  package func info(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    write(.info, message, values.map { ($0.key, $0.value) })
  }

  package func warning(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    write(.warning, message, values.map { ($0.key, $0.value) })
  }

  package func error(_ message: String, _ values: KeyValuePairs<String, String> = [:]) {
    write(.error, message, values.map { ($0.key, $0.value) })
  }

  /// The values are made only where they are told.
  package func debug(
    _ message: String, _ values: @autoclosure () -> KeyValuePairs<String, String> = [:]
  ) {
    guard Level.debug <= limit else { return }
    write(.debug, message, values().map { ($0.key, $0.value) })
  }

  package func write(_ level: Level, _ message: String, _ values: [(String, String)]) {
    guard level <= limit else { return }
    if isJSON {
      var object = JSONObject()
      object.add("time", clock.now())
      object.add("level", level.name)
      object.add("message", message)
      for (name, value) in values { object.add(name, value) }
      output(object.line + "\n")
      return
    }
    var text = "\(clock.now()) \(level.name) \(EscapedText.of(message))"
    for (name, value) in values { text += " \(name)=\(Self.shown(value))" }
    output(text + "\n")
  }

  /// A value in one word, so that a line can be taken apart again.
  private static func shown(_ value: String) -> String {
    let text = EscapedText.of(value)
    let isWord = !text.isEmpty && !text.utf8.contains { $0 == 0x20 || $0 == 0x22 || $0 == 0x3d }
    return isWord ? text : JSONValue.string(text).text
  }
}
