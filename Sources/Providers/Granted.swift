/// What a provider says that a person granted to a client, by permission name.
package struct Granted: Sendable, Equatable {
  package var granted: [String]
  /// Asked for once and refused, or ended by itself: known to the provider, and not granted.
  package var declined: [String]

  package init(granted: [String], declined: [String] = []) {
    self.granted = granted
    self.declined = declined
  }
}
