internal import CSodium
internal import Synchronization

/// Cells of one size in locked memory, for the secrets that come and go.
///
/// A guarded page of its own costs 18 microseconds a secret, three times the reading of a token; a
/// cell costs some nanoseconds. The price is that an overrun could reach the next cell, which
/// bounds-checked spans prevent; keys, which live long, have pages of their own all the same.
///
/// The memory comes in slabs as it is needed, up to a bound, and is kept as long as the process
/// lives: a command that reads one token locks one slab, not all. A cell that is not taken is all
/// zero.
@safe final class SecretPool: Sendable {
  /// 128 KiB, 128 KiB and 256 KiB at most: far below the usual limit on locked memory (8 MiB).
  static let small = SecretPool(cellBytes: 256, slabCells: 64, maximumSlabs: 8)
  static let medium = SecretPool(cellBytes: 1024, slabCells: 16, maximumSlabs: 8)
  static let large = SecretPool(cellBytes: 8192, slabCells: 4, maximumSlabs: 8)

  let cellBytes: Int
  private let slabCells: Int
  private let maximumSlabs: Int
  private let state = Mutex(State())

  /// What is free is kept outside of the locked memory, where no overrun reaches it.
  /// Sendable since the addresses are used under the lock alone.
  @safe private struct State: @unchecked Sendable {
    /// Owned by the pool, never freed.
    var slabs: [UnsafeMutableRawPointer] = unsafe []
    /// Cells by their number over all slabs. The last one given back is the next one taken, while
    /// the processor still has it at hand.
    var free: [Int] = []
  }

  init(cellBytes: Int, slabCells: Int, maximumSlabs: Int) {
    self.cellBytes = cellBytes
    self.slabCells = slabCells
    self.maximumSlabs = maximumSlabs
  }

  /// Makes the first slab now, where there is none yet.
  func prepare() {
    state.withLock { state in
      if unsafe state.slabs.isEmpty { grow(&state) }
    }
  }

  /// A zeroed cell, or nil where all are taken. The caller owns it until ``release(_:)``.
  func take() -> UnsafeMutableRawPointer? {
    unsafe state.withLock { state in
      if state.free.isEmpty { grow(&state) }
      guard let cell = state.free.popLast() else { return nil }
      return unsafe state.slabs[cell / slabCells] + cell % slabCells * cellBytes
    }
  }

  /// Wipes a cell and takes it back.
  func release(_ cell: UnsafeMutableRawPointer) {
    // Before anybody else can take it.
    unsafe sodium_memzero(cell, cellBytes)
    state.withLock { state in
      for index in unsafe state.slabs.indices {
        let offset = unsafe cell - state.slabs[index]
        guard offset >= 0, offset < slabCells * cellBytes else { continue }
        state.free.append(index * slabCells + offset / cellBytes)
        return
      }
      preconditionFailure("a cell of another pool")
    }
  }

  /// Lends every slab, taken cells and free ones, to a test that looks for what should be gone.
  func inspect(_ body: (RawSpan) -> Void) {
    state.withLock { state in
      for index in unsafe state.slabs.indices {
        let slab = unsafe state.slabs[index]
        unsafe body(UnsafeRawBufferPointer(start: slab, count: slabCells * cellBytes).bytes)
      }
    }
  }

  /// Adds a slab, unless the bound is reached.
  private func grow(_ state: inout State) {
    let slabCount = unsafe state.slabs.count
    guard slabCount < maximumSlabs else { return }
    unsafe state.slabs.append(SecureMemory.allocate(slabCells * cellBytes))
    let first = slabCount * slabCells
    state.free.append(contentsOf: (first..<first + slabCells).reversed())
  }
}
