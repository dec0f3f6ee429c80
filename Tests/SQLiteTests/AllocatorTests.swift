import Foundation
import SQLite
import Testing

@Suite struct `SQLite's heap` {
  @Test func `is ours before the first connection`() throws {
    SQLiteAllocator.install()
    #expect(SQLiteAllocator.isWiping)
    #expect(SQLiteLibrary.version.hasPrefix("3."))
  }

  /// A text that stands nowhere in memory as itself until it is made, and no more once it is wiped.
  struct Canary {
    private let masked: [UInt8]

    init() {
      var generator = SystemRandomNumberGenerator()
      masked = (0..<48).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    func fill(_ bytes: inout [UInt8]) {
      for index in bytes.indices { bytes[index] = masked[index % masked.count] ^ 0xa5 }
    }

    /// Counts it in every writable mapping of this process.
    func occurrences() throws -> Int {
      let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
      let memory = try #require(fopen("/proc/self/mem", "rb"))
      defer { fclose(memory) }
      var count = 0
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      for line in maps.split(separator: "\n") {
        let fields = line.split(separator: " ")
        guard fields[1].hasPrefix("rw"), !line.hasSuffix("[vvar]") else { continue }
        let range = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
        var start = range[0]
        while start < range[1] {
          fseeko(memory, off_t(start), SEEK_SET)
          // One canary of overlap, so that none is cut in two.
          let read = fread(&chunk, 1, min(chunk.count, Int(range[1] - start)), memory)
          if read < masked.count { break }
          count += found(in: chunk, read)
          start += UInt64(read == chunk.count ? read - masked.count + 1 : read)
        }
      }
      return count
    }

    private func found(in chunk: [UInt8], _ size: Int) -> Int {
      let first = masked[0] ^ 0xa5
      return chunk.withUnsafeBufferPointer { bytes in
        var count = 0
        for start in 0...(size - masked.count) where bytes[start] == first {
          var length = 1
          while length < masked.count, bytes[start + length] ^ 0xa5 == masked[length] {
            length += 1
          }
          if length == masked.count {
            count += 1
          }
        }
        return count
      }
    }
  }

  @Test(arguments: [48, 480, 4800])
  func `keeps no copy of a bound value once the statement let go of it`(_ size: Int) async throws {
    // In a process of its own, so that no other test's buffers are searched.
    await #expect(processExitsWith: .success) { [size] in
      let canary = Canary()
      let connection = try Connection.inMemory()
      let statement = try connection.prepare("SELECT lower(hex(?1)), ?1 || ?1")
      var secret = [UInt8](repeating: 0, count: size)
      canary.fill(&secret)
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
}
