internal import Glibc

/// Bytes in their order, in one block of memory that is wiped when it goes.
///
/// Not locked in memory: what passes here is what an app sends and gets, never a token.
///
/// Sendable since its one owner alone uses the memory.
@safe struct ByteRing: ~Copyable, @unchecked Sendable {
  /// Owned: allocated here, wiped and freed in `deinit` or when a larger one takes its place.
  private var memory: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private var start = 0
  private(set) var count = 0

  /// - Precondition: There is room for a byte.
  init(capacity: Int) {
    precondition(capacity > 0, "a ring without room")
    self.capacity = capacity
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    unsafe explicit_bzero(memory, capacity)
    unsafe memory.deallocate()
  }

  var room: Int { capacity - count }

  /// Takes all of it; where there is no room for it the memory grows.
  mutating func append(_ bytes: RawSpan) {
    if bytes.byteCount > room { grow(to: max(count + bytes.byteCount, capacity * 2)) }
    let end = (start + count) % capacity
    let first = min(bytes.byteCount, capacity - end)
    unsafe bytes.withUnsafeBytes { bytes in
      // The span outlives the call, and both parts are inside the memory.
      guard let from = bytes.baseAddress else { return }
      unsafe (memory + end).copyMemory(from: from, byteCount: first)
      unsafe memory.copyMemory(from: from + first, byteCount: bytes.count - first)
    }
    count += bytes.byteCount
  }

  /// Lends the first bytes, `limit` of them at most and as many as lie side by side, and drops them.
  ///
  /// - Returns: How many they were.
  mutating func take(_ limit: Int, _ body: (RawSpan) -> Void) -> Int {
    let taken = min(limit, count, capacity - start)
    guard taken > 0 else { return 0 }
    // The memory is ours, and a span cannot leave the closure.
    unsafe body(UnsafeRawBufferPointer(start: memory + start, count: taken).bytes)
    start = (start + taken) % capacity
    count -= taken
    return taken
  }

  /// Drops everything.
  mutating func clear() {
    start = 0
    count = 0
  }

  private mutating func grow(to larger: Int) {
    let target = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    let first = min(count, capacity - start)
    unsafe target.copyMemory(from: memory + start, byteCount: first)
    unsafe (target + first).copyMemory(from: memory, byteCount: count - first)
    unsafe explicit_bzero(memory, capacity)
    unsafe memory.deallocate()
    unsafe memory = target
    capacity = larger
    start = 0
  }
}
