import Foundation
import TamperSupport

/// A disk as it may be found after its power went: what was synced is there, and of the rest any part.
///
/// Content is durable by a sync of its file, a name by a sync of its directory, in no other order than
/// that. A write that was not synced may be there, be missing, or be torn at a multiple of 512 bytes.
struct Disk {
  private struct File {
    var durable: [UInt8] = []
    var pending: [FileEvent] = []
  }

  /// By a number of our own: the kernel gives an inode's number out again.
  private var files: [Int: File] = [:]
  private var numbers: [UInt64: Int] = [:]
  /// What a name leads to; nil for a directory.
  private var names: [String: Int?] = [:]
  private var pendingNames: [(event: FileEvent, number: Int?)] = []
  private let root: String

  init(root: String) {
    self.root = root
    names[root] = .some(nil)
  }

  /// How much of what was not synced is there.
  enum Luck {
    case nothing, everything, chance
  }

  private static func parent(_ path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  // MARK: While the power is on

  mutating func apply(_ event: FileEvent) {
    switch event.kind {
    case .create:
      let number = files.count
      files[number] = File()
      numbers[event.inode] = number
      pendingNames.append((event, number))
    case .output: return
    case .unlink, .rename, .link, .makeDirectory: pendingNames.append((event, nil))
    case .write, .truncate:
      guard let number = numbers[event.inode] else { return }
      files[number]?.pending.append(event)
    case .sync:
      guard let number = numbers[event.inode], var file = files[number] else { return }
      for pending in file.pending { Self.change(&file.durable, pending, upTo: nil) }
      file.pending = []
      files[number] = file
    case .syncDirectory:
      for pending in pendingNames where Self.directory(of: pending.event) == event.path {
        Self.change(&names, pending)
      }
      pendingNames.removeAll { Self.directory(of: $0.event) == event.path }
    }
  }

  private static func directory(of event: FileEvent) -> String {
    parent(event.otherPath.isEmpty ? event.path : event.otherPath)
  }

  private static func change(
    _ names: inout [String: Int?], _ pending: (event: FileEvent, number: Int?)
  ) {
    let event = pending.event
    switch event.kind {
    case .create: names[event.path] = .some(pending.number)
    case .makeDirectory: names[event.path] = .some(nil)
    case .unlink: names[event.path] = nil
    case .link, .rename:
      guard let target = names[event.path] else { return }
      names[event.otherPath] = .some(target)
      if event.kind == .rename { names[event.path] = nil }
    default: return
    }
  }

  private static func change(_ bytes: inout [UInt8], _ event: FileEvent, upTo torn: Int?) {
    let data = torn.map { event.data.prefix($0) } ?? event.data
    let end = event.offset + (event.kind == .truncate ? 0 : data.count)
    if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
    if event.kind == .truncate {
      bytes.removeSubrange(event.offset...)
    } else {
      bytes.replaceSubrange(event.offset..<end, with: data)
    }
  }

  // MARK: When it comes back

  /// Writes one state of the disk into `place`, which is made anew.
  func write(to place: String, _ luck: Luck, _ random: inout some RandomNumberGenerator) throws {
    var names = self.names
    for pending in pendingNames {
      if luck == .everything || luck == .chance && Bool.random(using: &random) {
        Self.change(&names, pending)
      }
    }
    let manager = FileManager.default
    try? manager.removeItem(atPath: place)
    for (path, number) in names.sorted(by: { $0.key < $1.key }) {
      let target = place + path.dropFirst(root.count)
      // A name in a directory whose own name is lost is lost with it.
      guard path == root || manager.fileExists(atPath: Self.parent(target)) else { continue }
      guard let number, let file = files[number] else {
        try manager.createDirectory(
          atPath: target, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700]
        )
        continue
      }
      let made = manager.createFile(
        atPath: target, contents: Data(content(of: file, luck, &random)),
        attributes: [.posixPermissions: 0o600])
      if !made { throw Attack.Failed(description: "cannot write \(target)") }
    }
  }

  private func content(
    of file: File, _ luck: Luck, _ random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var bytes = file.durable
    for event in file.pending {
      switch luck {
      case .nothing: continue
      case .everything: Self.change(&bytes, event, upTo: nil)
      case .chance:
        guard Bool.random(using: &random) else { continue }
        var torn: Int?
        if event.data.count > 512, Int.random(in: 0..<3, using: &random) == 0 {
          torn = 512 * Int.random(in: 1...(event.data.count - 1) / 512, using: &random)
        }
        Self.change(&bytes, event, upTo: torn)
      }
    }
    return bytes
  }
}

/// Random numbers that are the same in every run (SplitMix64).
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
