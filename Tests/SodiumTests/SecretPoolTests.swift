import Foundation
import Synchronization
import Testing

@testable import Sodium

@Suite struct `The pool of locked cells` {
  @Test func `gives every cell once, then none, then those that came back`() {
    let pool = SecretPool(cellBytes: 256, slabCells: 4, maximumSlabs: 3)
    var cells: Set<UnsafeMutableRawPointer> = []
    for _ in 0..<12 {
      let cell = pool.take()
      #expect(cell != nil)
      if let cell {
        #expect(cells.allSatisfy { abs($0 - cell) >= 256 })
        cells.insert(cell)
        cell.storeBytes(of: 0xa5, toByteOffset: 255, as: UInt8.self)
      }
    }
    #expect(cells.count == 12)
    #expect(pool.take() == nil)
    for cell in cells { pool.release(cell) }
    for _ in 0..<12 {
      let cell = pool.take()
      #expect(cell != nil)
      guard let cell else { continue }
      #expect(cells.remove(cell) != nil)
      #expect((0..<256).allSatisfy { cell.load(fromByteOffset: $0, as: UInt8.self) == 0 })
    }
  }

  @Test func `refuses a cell that is not its own`() async {
    await #expect(processExitsWith: .failure) {
      let pool = SecretPool(cellBytes: 256, slabCells: 4, maximumSlabs: 1)
      let other = SecretPool(cellBytes: 256, slabCells: 4, maximumSlabs: 1)
      pool.prepare()
      pool.release(other.take()!)
    }
  }

  @Test func `that is exhausted leaves secrets pages of their own`() async {
    await #expect(processExitsWith: .success) {
      func hold(_ more: Int) {
        let secret = SecretBytes.random(count: 200)
        let copy = secret.copy()
        if more > 0 { hold(more - 1) }
        precondition(secret.isEqual(to: copy))
      }
      hold(600)
      precondition(SecretPool.small.take() != nil)
    }
  }

  @Test func `keeps threads apart`() {
    let shared = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<2000 {
        let mark = UInt8(truncatingIfNeeded: thread * 31 + round) | 1
        var secret = SecretBytes(count: [32, 300, 2000][round % 3])
        let untouched = secret.array.allSatisfy { $0 == 0 }
        secret.withMutableBytes { span in
          span.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = mark }
          }
        }
        sched_yield()
        let kept = secret.array.allSatisfy { $0 == mark }
        if !untouched || !kept { shared.add(1, ordering: .relaxed) }
      }
    }
    let count = shared.load(ordering: .relaxed)
    #expect(count == 0)
  }

  /// Containers often allow no locked memory. The super-user is never refused, so that the test
  /// first becomes somebody else.
  @Test func `works where no memory may be locked, and says so`() async {
    await #expect(processExitsWith: .success) {
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      precondition(setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0)
      if getuid() == 0 { precondition(setuid(65_534) == 0) }
      let key = SecretBytes(guardedCount: 32)
      let token = SecretBytes.random(count: 100)
      precondition(!SecureMemory.isLocked)
      let copy = token.copy()
      precondition(copy.isEqual(to: token))
      precondition(key.count == 32)
    }
  }

  @Test func `is locked where the system allows it`() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit()
      precondition(getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
      guard getuid() == 0 || limit.rlim_cur >= 1 << 20 else { return }
      precondition(SecureMemory.isLocked)
      // What the kernel itself says about this process.
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmLck:") }
      let locked = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
      precondition(locked >= 16, "at least one slab of 16 KiB")
    }
  }
}
