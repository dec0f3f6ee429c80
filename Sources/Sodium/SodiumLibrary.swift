internal import CSodium

/// The libsodium that is linked.
package enum SodiumLibrary {
  /// For example "1.0.18".
  package static var version: String { unsafe String(cString: sodium_version_string()) }
}
