import AccountVault
import Foundation
import Synchronization
import Testing

@Suite struct SessionPoolTests {
  private func pool(_ place: Place, idle: Int = 2) throws -> SessionPool {
    let session = try place.create()
    _ = try session.addAccount(NewAccount(type: "github", username: "lestat"), credential: .none)
    try session.flush()
    return SessionPool(try Vault.open(at: place.path), try place.open(), idleLimit: idle)
  }

  @Test func `sessions that are lent at the same time see the same vault and write to one ledger`()
    throws
  {
    let place = try Place()
    let pool = try pool(place)
    let before = try pool.withSession { (session) throws(VaultError) in try session.entryCount() }
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 16) { number in
      do throws(VaultError) {
        try pool.withSession { (session) throws(VaultError) in
          _ = try session.grant(
            Decision(app: "app\(number)", permissions: ["repo"], account: "github:lestat"))
        }
      } catch {
        failures.withLock { $0.append(error.message) }
      }
    }
    #expect(failures.withLock { $0 } == [])
    let lines = try pool.withSession { (session) throws(VaultError) -> [String] in
      var granted: [String] = []
      for number in 0..<16 {
        for line in try session.access(app: "app\(number)", permissions: ["repo"])
        where line.state == .granted {
          granted.append(line.app)
        }
      }
      return granted
    }
    #expect(lines.count == 16)
    let after = try pool.withSession { (session) throws(VaultError) -> UInt64 in
      _ = try session.verify()
      return try session.entryCount()
    }
    // Sixteen apps recorded and sixteen grants.
    #expect(after - before == 32)
  }

  @Test
  func `a session may be lent while another waits, and the pool keeps no more than its limit`()
    async throws
  {
    let place = try Place()
    let pool = try pool(place, idle: 1)
    let count = try await pool.withSession { (outer) async throws(VaultError) -> UInt64 in
      await Task.yield()
      return try pool.withSession { (inner) throws(VaultError) in
        try inner.entryCount() + outer.entryCount()
      }
    }
    #expect(count > 0)
  }

  @Test func `a vault that got another key is not opened with the old one`() throws {
    let place = try Place()
    let pool = try pool(place)
    do {
      let other = try place.open()
      _ = try other.addRecovery()
      _ = try other.rotateKey(with: .keyFile(.key()), cost: .cheap)
    }
    #expect(throws: VaultError.self) {
      try pool.withSession { (first) throws(VaultError) in
        try pool.withSession { (second) throws(VaultError) in try second.entryCount() }
      }
    }
  }

  @Test func `another vault put in the place of the first is refused`() throws {
    let place = try Place()
    let pool = try pool(place)
    let other = try Place()
    do { _ = try other.create() }
    try withExtendedLifetime(other) {
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: place.path + suffix)
      }
      try FileManager.default.copyItem(atPath: other.path, toPath: place.path)
    }
    let error = #expect(throws: VaultError.self) {
      try pool.withSession { (first) throws(VaultError) in
        // The second one has the file that was opened before.
        try pool.withSession { (second) throws(VaultError) in
          try pool.withSession { (third) throws(VaultError) in try third.entryCount() }
        }
      }
    }
    #expect(error?.code == .damaged)
  }
}
