/// The environment variables as a value, so that a test gives a command its own.
package struct ProcessEnvironment: Sendable {
  private let values: [String: String]
  /// Names whose value is no UTF-8, which a path may be.
  private let unreadable: Set<String>

  package init(_ values: [String: String], unreadable: Set<String> = []) {
    self.values = values
    self.unreadable = unreadable
  }

  /// An empty variable counts as one that is not set.
  ///
  /// - Throws: `usage` where the value is not UTF-8. Left out or repaired, it would name another
  ///   file than the person meant.
  package func value(_ name: String) throws(CommandFailure) -> String? {
    if unreadable.contains(name) { throw CommandFailure(.usage, "$\(name) is not UTF-8") }
    guard let value = values[name], !value.isEmpty else { return nil }
    return value
  }

  /// The same without some names.
  package func without(_ names: [String]) -> ProcessEnvironment {
    ProcessEnvironment(
      values.filter { !names.contains($0.key) }, unreadable: unreadable.subtracting(names))
  }

  /// NAME=VALUE for a child process, in a fixed order.
  package var entries: [String] { values.map { "\($0.key)=\($0.value)" }.sorted() }
}
