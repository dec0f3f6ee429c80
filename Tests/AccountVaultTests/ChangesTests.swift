import AccountVault
import Foundation
import Ledger
import SQLite
import Synchronization
import Testing

/// What a program learns of the work of other processes.
@Suite(.timeLimit(.minutes(10))) struct ChangesTests {
  private func pool(_ place: Place) throws -> SessionPool {
    do {
      let session = try place.create()
      try session.addFacebook()
    }
    return SessionPool(try Vault.open(at: place.path), try place.open())
  }

  /// Where the kernel were not to tell, this would wait for an hour.
  private func told(_ pool: SessionPool, from number: UInt64) -> Changes {
    Changes(pool: pool, from: number, lookMilliseconds: 3_600_000)
  }

  @Test func `each entry of other processes comes once and in order`() async throws {
    let place = try Place()
    let pool = try pool(place)
    let start = try pool.withSession { (session) throws(VaultError) in try session.entryCount() }
    async let one: Void = writeMuch(place, app: "one", count: 40)
    async let two: Void = writeMuch(place, app: "two", count: 40)
    var numbers: [UInt64] = []
    var apps: [String: Int] = [:]
    for try await entry in told(pool, from: start) {
      numbers.append(entry.number)
      apps[entry.app ?? "", default: 0] += 1
      // Both apps recorded, and everybody's decisions.
      if numbers.count == 82 { break }
    }
    _ = await (one, two)
    #expect(numbers == Array(start..<start + 82))
    #expect(apps == ["one": 41, "two": 41])
  }

  @Test func `also across a checkpoint of the log and its new beginning`() async throws {
    let place = try Place()
    let pool = try pool(place)
    var changes = told(pool, from: 0).makeAsyncIterator()
    var numbers: [UInt64] = []
    for round in 0..<4 {
      // The writer is the last but for the reader, and leaves a log that begins anew.
      await writeMuch(place, app: "app\(round)", count: 5)
      let connection = try place.holdWriteLock()
      try connection.execute("ROLLBACK")
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      while numbers.count < 2 + 6 * (round + 1) {
        numbers.append(try #require(try await changes.next()).number)
      }
    }
    #expect(numbers == Array(0..<26))
  }

  @Test func `what is written while somebody waits comes too, and a cancelled task ends it`()
    async throws
  {
    let place = try Place()
    let pool = try pool(place)
    let seen = Mutex<[Event]>([])
    let reader = Task {
      for try await entry in told(pool, from: 2) { seen.withLock { $0.append(entry.event) } }
    }
    let session = try place.open()
    for count in 1...5 {
      _ = try session.grant(Decision(app: "123", permissions: ["email"]))
      // One at a time: each is met by a wait that has begun, sooner or later.
      while seen.withLock({ $0.count }) < count + 1 { await Task.yield() }
    }
    reader.cancel()
    try await reader.value
    #expect(
      seen.withLock { $0 } == [.appAdded, .granted, .granted, .granted, .granted, .granted])
  }

  @Test func `without word from the kernel the vault is looked at now and then`() async throws {
    let place = try Place()
    let pool = try pool(place)
    let changes = Changes(pool: pool, from: 2, lookMilliseconds: 10, isWatching: false)
    async let writing: Void = writeMuch(place, app: "one", count: 10)
    var numbers: [UInt64] = []
    for try await entry in changes {
      numbers.append(entry.number)
      if numbers.count == 11 { break }
    }
    await writing
    #expect(numbers == Array(2..<13))
  }

  @Test func `a vault that another process gave a new key must be unlocked again`() async throws {
    let place = try Place()
    let pool = try pool(place)
    let reader = Task {
      for try await _ in told(pool, from: 0) {}
    }
    do {
      let other = try place.open()
      _ = try other.addRecovery()
      _ = try other.rotateKey(with: .keyFile(.key()), cost: .cheap)
    }
    let error = await #expect(throws: VaultError.self) { try await reader.value }
    #expect(error?.reason == .keysChanged)
  }
}
