internal import CSodium

/// Bytes that nobody else may learn: a token, a passphrase, a key.
///
/// They lie in memory that is locked as far as the system allows (``SecureMemory/isLocked``), have
/// one owner, and are wiped when that owner lets go, on thrown errors too. The type is neither
/// copyable nor printable nor codable: it can be lent, not interpolated, logged or compared by
/// accident. A copy exists only where ``copy()`` is written.
@safe package struct SecretBytes: ~Copyable, @unchecked Sendable {
  /// Owned; `capacity` bytes, of which those from `count` on are zero.
  @usableFromInline let start: UnsafeMutableRawPointer
  private let capacity: Int
  private let home: Home

  /// The number of bytes. Known to whoever holds the value: it is no secret.
  package private(set) var count: Int

  private enum Home {
    case small, medium, large
    /// Pages of its own between guard pages.
    case own
  }

  /// `count` zero bytes, from the pool while it has room.
  ///
  /// - Precondition: `count` is not negative.
  package init(count: Int) {
    precondition(count >= 0, "a secret has no negative length")
    self.count = count
    if count <= SecretPool.small.cellBytes, let cell = unsafe SecretPool.small.take() {
      unsafe start = cell
      capacity = SecretPool.small.cellBytes
      home = .small
    } else if count <= SecretPool.medium.cellBytes, let cell = unsafe SecretPool.medium.take() {
      unsafe start = cell
      capacity = SecretPool.medium.cellBytes
      home = .medium
    } else if count <= SecretPool.large.cellBytes, let cell = unsafe SecretPool.large.take() {
      unsafe start = cell
      capacity = SecretPool.large.cellBytes
      home = .large
    } else {
      unsafe start = SecureMemory.allocate(count)
      capacity = count
      home = .own
    }
  }

  /// `count` zero bytes in pages of their own between guard pages, for keys. Costs about 18
  /// microseconds.
  ///
  /// - Precondition: `guardedCount` is not negative.
  package init(guardedCount count: Int) {
    precondition(count >= 0, "a secret has no negative length")
    self.count = count
    unsafe start = SecureMemory.allocate(count)
    capacity = count
    home = .own
  }

  /// A copy of `bytes`, which stay as they are.
  package init(copying bytes: RawSpan) {
    self.init(count: bytes.byteCount)
    fill(from: bytes)
  }

  /// Moves `bytes` here: they are wiped and the array is left empty.
  ///
  /// Copies of the array that were made before are other memory, and are not wiped.
  package init(wiping bytes: inout [UInt8]) {
    self.init(count: bytes.count)
    unsafe fill(from: bytes.span.bytes)
    unsafe bytes.withUnsafeMutableBytes { array in
      guard let first = array.baseAddress else { return }
      unsafe sodium_memzero(first, array.count)
    }
    bytes = []
  }

  /// Bytes from the system's source of randomness.
  package static func random(count: Int) -> SecretBytes {
    let secret = SecretBytes(count: count)
    unsafe randombytes_buf(secret.start, count)
    return secret
  }

  deinit {
    switch home {
    case .small: unsafe SecretPool.small.release(start)
    case .medium: unsafe SecretPool.medium.release(start)
    case .large: unsafe SecretPool.large.release(start)
    case .own: unsafe SecureMemory.free(start)
    }
  }

  /// Lends the bytes for as long as `body` runs.
  @inlinable
  package borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    // The memory is ours until deinit, and a span cannot leave the closure.
    try unsafe body(UnsafeRawBufferPointer(start: start, count: count).bytes)
  }

  /// Lends the bytes for writing for as long as `body` runs.
  @inlinable
  package mutating func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    // The memory is ours until deinit, and a span cannot leave the closure.
    var span = unsafe UnsafeMutableRawBufferPointer(start: start, count: count).mutableBytes
    return try body(&span)
  }

  /// Writes bytes over those from `place` on.
  ///
  /// - Precondition: There are so many.
  package mutating func write(_ bytes: RawSpan, at place: Int) {
    precondition(place >= 0 && bytes.byteCount <= count - place, "bytes of the secret")
    unsafe bytes.withUnsafeBytes { source in
      guard let first = source.baseAddress else { return }
      unsafe (start + place).copyMemory(from: first, byteCount: source.count)
    }
  }

  /// Wipes and drops the bytes from `count` on.
  ///
  /// - Precondition: `count` is between nought and the present count.
  package mutating func truncate(to count: Int) {
    precondition((0...self.count).contains(count), "a secret is not made longer by truncating")
    unsafe sodium_memzero(start + count, self.count - count)
    self.count = count
  }

  /// A second secret with the same bytes, in pages of its own where this one has them.
  package borrowing func copy() -> SecretBytes {
    let other = home == .own ? SecretBytes(guardedCount: count) : SecretBytes(count: count)
    unsafe other.start.copyMemory(from: start, byteCount: count)
    return other
  }

  /// Whether both hold the same bytes, in a time that depends on the count alone: a comparison that
  /// stops at the first difference lets someone guess a secret byte by byte.
  package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    unsafe count == other.count && sodium_memcmp(start, other.start, count) == 0
  }

  /// Makes room for `count` bytes, those that are new being zero. Where the memory is too small the
  /// bytes move, and their old place is wiped.
  mutating func extend(to count: Int) {
    precondition(count >= self.count, "a secret is not made shorter by extending")
    if count > capacity {
      let larger = home == .own ? SecretBytes(guardedCount: count) : SecretBytes(count: count)
      unsafe larger.start.copyMemory(from: start, byteCount: self.count)
      self = larger
    } else {
      self.count = count
    }
  }

  /// - Precondition: `bytes` are as many as these.
  private func fill(from bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { source in
      precondition(source.count == count)
      guard let first = source.baseAddress else { return }
      unsafe start.copyMemory(from: first, byteCount: count)
    }
  }
}
