public import Accounts
import FileSystem
import Glibc

/// A process, told apart from every other of this machine and from a later one of its number.
enum ProcessIdentity {
  /// This process.
  static var own: Ask.Asker? {
    guard let started = startTime(of: getpid()), let boot = bootID else { return nil }
    return Ask.Asker(processID: getpid(), startedAt: started, bootID: boot)
  }

  static func isAlive(_ asker: Ask.Asker) -> Bool {
    asker.bootID == bootID && startTime(of: asker.processID) == asker.startedAt
  }

  /// When a process started, in clock ticks since the machine did (`proc(5)`, field 22); nil where
  /// there is no such process.
  private static func startTime(of process: Int32) -> UInt64? {
    guard let file = try? Files.openExisting("/proc/\(process)/stat", write: false),
      let bytes = try? file.readAll(maximum: 4096)
    else { return nil }
    // The second field is a name in parentheses that may hold anything; the last ")" ends it.
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19 else { return nil }
    return UInt64(String(decoding: fields[19], as: UTF8.self))
  }

  private static var bootID: String? {
    guard
      let file = try? Files.openExisting("/proc/sys/kernel/random/boot_id", write: false),
      let bytes = try? file.readAll(maximum: 64)
    else { return nil }
    return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
  }
}

extension Asker {
  /// This process, as the one that waits for the person's answer.
  public static var thisProcess: Ask.Asker? { ProcessIdentity.own }
}
