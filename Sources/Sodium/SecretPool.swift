internal import CSodium
internal import Synchronization

/// Cells of one size in one piece of locked memory, for the secrets that come and go.
///
/// A guarded page of its own costs 18 microseconds a secret, three times the reading of a token; a
/// cell costs some nanoseconds. The price is that an overrun could reach the next cell, which
/// bounds-checked spans prevent; keys, which live long, have pages of their own all the same.
///
/// The memory is made at first use and lives as long as the process. A cell that is not taken is
/// all zero.
@safe final class SecretPool: Sendable {
  static let small = SecretPool(cellCount: 512, cellBytes: 256)
  static let medium = SecretPool(cellCount: 128, cellBytes: 1024)
  static let large = SecretPool(cellCount: 32, cellBytes: 8192)

  let cellCount: Int
  let cellBytes: Int
  private let state = Mutex(State())

  /// Which cells are free is kept outside of the locked memory, where no overrun reaches it.
  @safe private struct State: @unchecked Sendable {
    /// Owned by the pool, never freed.
    var start: UnsafeMutableRawPointer?
    /// The last one given back is the next one taken, while the processor still has it at hand.
    var free: [UInt16] = []
  }

  init(cellCount: Int, cellBytes: Int) {
    precondition(cellCount <= Int(UInt16.max))
    self.cellCount = cellCount
    self.cellBytes = cellBytes
  }

  /// Makes the memory now, where it is not there yet.
  func prepare() {
    state.withLock { prepare(&$0) }
  }

  /// A zeroed cell, or nil where all are taken. The caller owns it until ``release(_:)``.
  func take() -> UnsafeMutableRawPointer? {
    unsafe state.withLock { state in
      prepare(&state)
      guard let index = state.free.popLast() else { return nil }
      return unsafe state.start! + Int(index) * cellBytes
    }
  }

  /// Wipes a cell and takes it back.
  func release(_ cell: UnsafeMutableRawPointer) {
    // Before anybody else can take it.
    unsafe sodium_memzero(cell, cellBytes)
    state.withLock { state in
      unsafe state.free.append(UInt16((cell - state.start!) / cellBytes))
    }
  }

  /// Reads every cell, taken or free, for a test that looks for what should be gone.
  func inspect<R>(_ body: (RawSpan) -> R) -> R {
    state.withLock { state in
      prepare(&state)
      return unsafe body(
        UnsafeRawBufferPointer(start: state.start!, count: cellCount * cellBytes).bytes)
    }
  }

  private func prepare(_ state: inout State) {
    guard unsafe state.start == nil else { return }
    unsafe state.start = unsafe SecureMemory.allocate(cellCount * cellBytes)
    state.free = (0..<UInt16(cellCount)).reversed()
  }
}
