extension RawSpan {
  /// The byte at an offset, for the parts that use no pointers of their own.
  ///
  /// - Precondition: the offset lies within.
  @inlinable
  package func byte(_ offset: Int) -> UInt8 {
    // Any bit pattern is a byte, and the offset is checked.
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
