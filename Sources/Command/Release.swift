/// What this release is, in one place.
package enum Release {
  package static let version = "0.1.0"
  /// Grows when the meaning of a key or a code of the contract changes.
  package static let jsonFormat: Int64 = 1
  /// The format of the vault file that this release writes.
  package static let vaultFormat: Int64 = 1
}
