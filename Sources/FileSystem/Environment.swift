import Glibc

/// The process's environment.
package enum Environment {
  /// Nil when it is not set, and when it is not UTF-8.
  package static func value(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }
}
