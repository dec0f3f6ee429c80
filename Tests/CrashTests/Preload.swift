import Foundation
import TamperSupport

/// The library that tells, or cuts off, what a process does to files: compiled once, preloaded.
enum Preload {
  static let library = Result { () throws -> String in
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Preload/events.c").path
    let made = NSTemporaryDirectory() + "/events-\(UUID().uuidString).so"
    let child = try Child.run(
      "cc", ["-O1", "-shared", "-fPIC", "-o", made, source, "-ldl"])
    guard child.isSuccess else { throw Attack.Failed(description: "cc: \(child.errors)") }
    return made
  }

  /// Runs the driver; `killAt` ends it before its so-manieth event.
  static func run(
    _ operation: String, on sample: SampleVault, killAt: Int? = nil, log: String? = nil
  ) throws -> Child {
    var environment = [
      "LD_PRELOAD": try library.get(), "EVENT_ROOT": sample.directory,
      "SWIFT_BACKTRACE": "enable=no",
    ]
    if let killAt { environment["EVENT_KILL"] = String(killAt) }
    if let log { environment["EVENT_LOG"] = log }
    return try Child.run(
      Child.driver, [operation, sample.directory], environment: environment, seconds: 60)
  }
}

/// One thing that a process did to a file.
struct FileEvent {
  enum Kind: UInt8 {
    case create = 0x43
    case write = 0x57
    case truncate = 0x54
    case sync = 0x53
    case syncDirectory = 0x44
    case unlink = 0x55
    case rename = 0x52
    case link = 0x4C
    case makeDirectory = 0x4D
    case output = 0x4F
  }

  var kind: Kind
  var inode: UInt64
  var offset: Int
  var path: String
  var otherPath: String
  var data: ArraySlice<UInt8>

  /// Reads the records of a log, in the order in which they happened.
  static func all(in log: String) throws -> [FileEvent] {
    let bytes = try Attack.bytes(log)
    var events: [FileEvent] = []
    var next = 0
    func word() -> Int {
      defer { next += 8 }
      return bytes[next..<next + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func part(_ count: Int) -> ArraySlice<UInt8> {
      defer { next += count }
      return bytes[next..<next + count]
    }
    while next < bytes.count {
      let header = (0..<6).map { _ in word() }
      guard let kind = Kind(rawValue: UInt8(header[0])) else {
        throw Attack.Failed(description: "the log of events has kind \(header[0])")
      }
      let path = String(decoding: part(header[4]), as: UTF8.self)
      let other = String(decoding: part(header[5]), as: UTF8.self)
      let hasData = kind == .write || kind == .output
      events.append(
        FileEvent(
          kind: kind, inode: UInt64(header[1]), offset: header[2], path: path, otherPath: other,
          data: part(hasData ? header[3] : 0)))
    }
    return events
  }
}
