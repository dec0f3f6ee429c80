internal import CSystem

/// Memory that a reply passes through, which may hold a token. Overwritten before it is given back.
///
/// Not locked in memory: whoever keeps a secret copies it into a place of its own at once.
///
/// Whoever owns the value is the only one who reaches the memory, so it may go from thread to thread.
@safe struct WipedBuffer: ~Copyable, @unchecked Sendable {
  /// Owned: allocated here, freed in `deinit`.
  private let memory: UnsafeMutablePointer<UInt8>
  let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    unsafe memory = .allocate(capacity: capacity)
    unsafe memory.initialize(repeating: 0, count: capacity)
  }

  deinit {
    unsafe vault_wipe(memory, capacity)
    unsafe memory.deallocate()
  }

  subscript(_ index: Int) -> UInt8 {
    precondition((0..<capacity).contains(index), "a byte of the buffer")
    return unsafe memory[index]
  }

  /// Copies bytes in.
  func put(_ bytes: RawSpan, at position: Int) {
    precondition(position >= 0 && bytes.byteCount <= capacity - position, "room in the buffer")
    unsafe bytes.withUnsafeBytes { source in
      // The span outlives the call, and lies elsewhere: whoever lends this memory cannot write to it.
      guard let first = source.baseAddress else { return }
      unsafe UnsafeMutableRawPointer(memory + position).copyMemory(
        from: first, byteCount: source.count)
    }
  }

  /// Lends the bytes of `range`.
  func withBytes<R: ~Copyable, E: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "bytes of the buffer")
    // The memory is ours until deinit, and a span cannot leave the closure.
    return try unsafe body(
      UnsafeRawBufferPointer(start: memory + range.lowerBound, count: range.count).bytes)
  }

  /// The same, as bytes one by one.
  func withSpan<R: ~Copyable, E: Error>(
    _ range: Range<Int>, _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "bytes of the buffer")
    // As above.
    return try unsafe body(
      UnsafeBufferPointer(start: memory + range.lowerBound, count: range.count).span)
  }

  /// Reads from a socket behind the first `count` bytes.
  ///
  /// - Returns: How many bytes came, 0 at the end.
  func read(
    from descriptor: Int32, behind count: Int, milliseconds: Int64
  ) throws(SocketError) -> Int {
    precondition(count < capacity, "room in the buffer")
    let read = unsafe vault_socket_read(
      descriptor, memory + count, capacity - count, milliseconds)
    if read >= 0 { return read }
    let error = vault_errno()
    throw error == 110 ? .timeout : .system(error)
  }

  /// Moves the bytes of `range` to the front.
  func keep(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "bytes of the buffer")
    unsafe memory.update(from: memory + range.lowerBound, count: range.count)
  }
}
