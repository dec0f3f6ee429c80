/// The environment variables as a value, so that a test gives a command its own.
package struct ProcessEnvironment: Sendable {
  /// A variable; nil for a value that is not UTF-8, which a path may be.
  typealias Variable = (name: String, value: String?)

  // A list and no dictionary: the runtime builds that type only once it is wanted, which takes longer
  // than a whole command that asks the agent may.
  private let variables: [Variable]

  /// - Parameter variables: Of two with one name the first counts, as with getenv.
  init(_ variables: [Variable]) { self.variables = variables }

  package init(_ values: [String: String], unreadable: Set<String> = []) {
    variables = values.map { ($0.key, $0.value) } + unreadable.map { ($0, nil) }
  }

  /// An empty variable counts as one that is not set.
  ///
  /// - Throws: `usage` where the value is not UTF-8. Left out or repaired, it would name another
  ///   file than the person meant.
  package func value(_ name: String) throws(CommandFailure) -> String? {
    for variable in variables where variable.name == name {
      guard let value = variable.value else {
        throw CommandFailure(.usage, "$\(name) is not UTF-8")
      }
      return value.isEmpty ? nil : value
    }
    return nil
  }

  /// The same without some names.
  package func without(_ names: [String]) -> ProcessEnvironment {
    ProcessEnvironment(variables.filter { !names.contains($0.name) })
  }

  /// NAME=VALUE for a child process, in a fixed order.
  package var entries: [String] {
    var values: [String: String] = [:]
    for variable in variables where values[variable.name] == nil {
      values[variable.name] = variable.value
    }
    return values.map { "\($0.key)=\($0.value)" }.sorted()
  }
}
