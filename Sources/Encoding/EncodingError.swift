/// Why bytes or text are not the one accepted form of a value.
///
/// Every decoder here accepts exactly what its encoder writes: a second spelling of the same value
/// would let someone change stored bytes without changing their meaning.
package enum EncodingError: Error, Equatable, Sendable {
  /// The bytes end inside a value, or a length or count promises more than is left.
  case truncated
  /// Bytes are left after the last value.
  case trailing
  /// Complete, but not the form that the encoder writes. Says which rule, never shows the value.
  case notCanonical(String)
}
