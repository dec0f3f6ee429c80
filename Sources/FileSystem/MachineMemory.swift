import Glibc

/// How much memory this process may count on.
package enum MachineMemory {
  /// The machine's memory in bytes, or the container's limit where that is smaller.
  package static var bytes: UInt64 {
    let pages = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES))))
    let machine = pages * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    return min(machine, cgroupLimit ?? .max)
  }

  /// The limit of the process's control group (`cgroup-v2`, `memory.max`), where it has one.
  private static var cgroupLimit: UInt64? {
    guard let file = try? Files.openExisting("/sys/fs/cgroup/memory.max", write: false),
      let bytes = try? file.readAll(maximum: 64)
    else { return nil }
    return UInt64(String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self))
  }
}
