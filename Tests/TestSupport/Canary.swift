import Foundation

/// Forty-eight random letters that stand nowhere in memory as themselves until they are put there,
/// so that a search finds only the copies that the code under test made.
public struct Canary: Sendable {
  private let masked: [UInt8]

  public static let count = 48

  public init() {
    masked = (0..<Self.count).map { _ in UInt8.random(in: 97...122) ^ 0xa5 }
  }

  /// Overwrites `range` of `bytes` with the canary, over and over, in place.
  public func fill(_ bytes: inout [UInt8], _ range: Range<Int>) {
    bytes.withUnsafeMutableBytes { bytes in
      for index in range {
        bytes[index] = masked[(index - range.lowerBound) % masked.count] ^ 0xa5
      }
    }
  }

  /// How often it stands in the writable memory of this process.
  public func occurrences() throws -> Int {
    // Read to its end: a file of /proc says that it has no size.
    let handle = FileHandle(forReadingAtPath: "/proc/self/maps")
    let maps = String(decoding: try handle?.readToEnd() ?? Data(), as: UTF8.self)
    guard maps.contains("[stack]") else { throw POSIXError(.EIO) }
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw POSIXError(.EACCES) }
    defer { close(memory) }
    var count = 0
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    // What was found is not to be found in this buffer by the next search.
    defer { chunk.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) } }
    for line in maps.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields[1].hasPrefix("rw") else { continue }
      let range = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      var start = range[0]
      while start < range[1] {
        let size = pread(memory, &chunk, min(chunk.count, Int(range[1] - start)), off_t(start))
        guard size >= masked.count else {
          // A page that cannot be read.
          start = (start / 4096 + 1) * 4096
          continue
        }
        count += occurrences(in: chunk, size)
        // So much of the end is read again that none is cut in two.
        start += UInt64(size == chunk.count ? size - masked.count + 1 : size)
      }
    }
    return count
  }

  private func occurrences(in chunk: [UInt8], _ size: Int) -> Int {
    chunk.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      var count = 0
      var next = 0
      let last = size - masked.count
      while next <= last,
        let found = memchr(start + next, Int32(masked[0] ^ 0xa5), last - next + 1)
      {
        let place = found - UnsafeMutableRawPointer(mutating: start)
        if masked.indices.allSatisfy({ bytes[place + $0] ^ 0xa5 == masked[$0] }) { count += 1 }
        next = place + 1
      }
      return count
    }
  }
}
