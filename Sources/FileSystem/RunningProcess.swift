import Glibc

/// A process, told apart from every other of this run of the machine.
package enum RunningProcess {
  /// This process's number.
  package static var current: Int32 { getpid() }

  /// The file that this process runs, links resolved. Nil where it is gone or its path is no UTF-8.
  package static var executable: String? {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe path.withUnsafeMutableBytes { buffer -> Int in
      guard let start = buffer.baseAddress else { return 0 }
      // The kernel writes at most so many bytes into our array.
      return unsafe readlink(
        "/proc/self/exe", start.assumingMemoryBound(to: CChar.self), buffer.count)
    }
    guard count > 0, count < path.count else { return nil }
    return String(validating: path[..<count], as: UTF8.self)
  }

  /// When a process started, in clock ticks since the machine did (`proc(5)`, field 22); nil where
  /// there is no such process. With the number it tells a process from a later one of its number.
  package static func startTime(of process: Int32) -> UInt64? {
    guard
      let bytes = try? Files.openExisting("/proc/\(process)/stat", write: false)
        .readAll(maximum: 4096)
    else { return nil }
    // The second field is a name in parentheses that may hold anything; the last ")" ends it.
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19 else { return nil }
    return UInt64(String(decoding: fields[19], as: UTF8.self))
  }

  /// The kernel's random id of this run of the machine.
  package static var bootID: String? {
    guard
      let bytes = try? Files.openExisting("/proc/sys/kernel/random/boot_id", write: false)
        .readAll(maximum: 64)
    else { return nil }
    return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
  }
}
