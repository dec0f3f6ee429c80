extension [UInt8] {
  /// Lends the bytes without copying, in the form that every primitive takes.
  @inlinable
  package func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    // Bytes have no padding, and the array outlives the call.
    try unsafe body(span.bytes)
  }
}
