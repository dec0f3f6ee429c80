/// A secret with several holders: a request that may be sent twice, a reply that travels between
/// tasks. Wiped when the last of them lets go.
package final class SharedSecret: Sendable {
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) {
    self.bytes = bytes
  }

  /// How many bytes it has.
  package var count: Int { bytes.count }

  /// Lends the bytes to `body`; they must not be kept.
  package func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withBytes(body)
  }
}
