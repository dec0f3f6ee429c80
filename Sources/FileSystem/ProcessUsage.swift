internal import CSystem
import Glibc

/// What this process takes of the machine, as `proc(5)` tells.
package struct ProcessUsage: Sendable {
  /// Hundredths of a second on processors, in the program and in the kernel.
  package let processorHundredths: UInt64
  package let residentBytes: UInt64
  package let virtualBytes: UInt64
  package let descriptors: Int
  package let descriptorLimit: UInt64

  /// Nil where the kernel does not tell.
  package static var current: ProcessUsage? {
    guard
      let bytes = try? Files.openExisting("/proc/self/stat", write: false).readAll(maximum: 4096),
      // The second field is a name in parentheses that may hold anything; the last ")" ends it.
      let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " ")).map {
      UInt64(String(decoding: $0, as: UTF8.self)) ?? 0
    }
    // Fields 14, 15, 23 and 24 of the whole line; this array begins with the third.
    guard fields.count > 21 else { return nil }
    let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let page = UInt64(max(1, sysconf(Int32(_SC_PAGESIZE))))
    var limit = rlimit()
    // Our own structure, lent for the call.
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return nil
    }
    return ProcessUsage(
      processorHundredths: (fields[11] + fields[12]) * 100 / ticks,
      residentBytes: fields[21] * page, virtualBytes: fields[20],
      descriptors: Int(vault_count_descriptors()), descriptorLimit: UInt64(limit.rlim_cur))
  }
}
