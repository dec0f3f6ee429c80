import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct `SQLite's heap` {
  @Test func `is ours before the first connection`() throws {
    SQLiteAllocator.install()
    #expect(SQLiteAllocator.isWiping)
    #expect(SQLiteLibrary.version.hasPrefix("3."))
  }

  @Test(arguments: [48, 480, 4800])
  func `keeps no copy of a bound value once the statement let go of it`(_ size: Int) async throws {
    // In a process of its own, so that no other test's buffers are searched.
    await #expect(processExitsWith: .success) { [size] in
      let canary = Canary()
      let connection = try Connection.inMemory()
      let statement = try connection.prepare("SELECT lower(hex(?1)), ?1 || ?1")
      var secret = [UInt8](repeating: 0, count: size)
      canary.fill(&secret, 0..<secret.count)
      statement.bind(1, bytes: secret)
      guard try statement.step() else { exit(2) }
      // The array, the binding and the row: the search finds what is there.
      guard try canary.occurrences() >= 3 else { exit(3) }
      statement.reset()
      statement.clearBindings()
      for index in secret.indices { secret[index] = 0 }
      exit(try canary.occurrences() == 0 ? 0 : 4)
    }
  }

  @Test func `keeps no copy of a row once its database in memory is closed`() async throws {
    await #expect(processExitsWith: .success) {
      let canary = Canary()
      var secret = [UInt8](repeating: 0, count: Canary.count)
      canary.fill(&secret, 0..<secret.count)
      do {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE t (a)")
        let insert = try connection.prepare("INSERT INTO t VALUES (?1)")
        for _ in 0..<500 {
          insert.bind(1, bytes: secret)
          try insert.run()
        }
        guard try canary.occurrences() >= 500 else { exit(2) }
      }
      for index in secret.indices { secret[index] = 0 }
      exit(try canary.occurrences() == 0 ? 0 : 3)
    }
  }
}
