internal import CSodium
internal import Synchronization

/// Memory that is kept out of swap and out of core dumps as far as the system allows.
package enum SecureMemory {
  private static let refused = Atomic<Bool>(false)

  /// Whether the system locked every page that was asked for so far, the pool's included.
  ///
  /// False where the limit on locked memory (`RLIMIT_MEMLOCK`) is too low, as in many containers.
  /// Secrets are then used all the same, and can reach the swap device.
  package static var isLocked: Bool {
    SecretPool.small.prepare()
    return !refused.load(ordering: .relaxed)
  }

  /// Zeroed memory between guard pages, to be given back with ``free(_:)``.
  ///
  /// libsodium locks it but does not say whether that worked, so it is asked again: locks of one
  /// page do not add up. Where the system has no memory at all the process ends, as it does when
  /// Swift itself finds none.
  static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    Library.start()
    guard let start = unsafe sodium_malloc(count) else {
      fatalError("no memory for a secret of \(count) bytes")
    }
    if unsafe sodium_mlock(start, count) != 0 { refused.store(true, ordering: .relaxed) }
    unsafe sodium_memzero(start, count)
    return unsafe start
  }

  /// Wipes and unmaps what ``allocate(_:)`` gave. Ends the process if something was written just
  /// before the start of it.
  static func free(_ start: UnsafeMutableRawPointer) {
    unsafe sodium_free(start)
  }
}
