extension RawSpan {
  /// Lends the bytes to a C function as an address and a count.
  ///
  /// The span's owner keeps the memory, which stays valid until `body` returns. To libcrypto a null
  /// key means "the key as before", so an empty span gives the address of a byte that is not to be
  /// read.
  @inline(__always)
  func lend<R>(_ body: (_ start: UnsafePointer<UInt8>, _ count: Int) -> R) -> R {
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else {
        var nothing: UInt8 = 0
        return unsafe withUnsafePointer(to: &nothing) { unsafe body($0, 0) }
      }
      return unsafe body(start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
  }
}
