import FileSystem
import Foundation
import TestSupport
import Testing

@Suite struct `A file` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: [UInt32(0o600), 0o400, 0o644])
  func `is made with its mode from the start whatever the umask says`(_ mode: UInt32) throws {
    // The umask belongs to the whole process: what other tests make meanwhile keeps its mode too.
    for umask in [mode_t(0), 0o022, 0o077] {
      let path = directory("new-\(umask)")
      let before = Foundation.umask(umask)
      let file = try Files.createNew(path, mode: mode)
      Foundation.umask(before)
      #expect(try Files.inspect(path)?.mode == mode)
      #expect(try file.facts().mode == mode)
    }
    let file = try Files.createNew(directory("content"))
    try file.write([1, 2, 3])
    #expect(try file.size == 3)
  }

  @Test func `is made only where nothing has its name, not even a dangling link`() throws {
    _ = try Files.createNew(directory("there"))
    symlink("nowhere", directory("link"))
    for name in ["there", "link"] {
      let error = #expect(throws: FileError.self) { _ = try Files.createNew(directory(name)) }
      #expect(error?.kind == .exists)
      #expect(error?.text == "File exists")
    }
    #expect(try Files.inspect(directory("nowhere")) == nil)
  }

  @Test func `is not opened through a link`() throws {
    _ = try Files.createNew(directory("there"))
    symlink("there", directory("link"))
    let error = #expect(throws: FileError.self) {
      _ = try Files.openExisting(directory("link"), write: false)
    }
    #expect(error?.kind == .symbolicLink)
  }

  @Test func `is a regular file, and a FIFO makes nobody wait`() throws {
    mkfifo(directory("fifo"), 0o600)
    for (path, write) in [
      (directory("fifo"), false), (directory("fifo"), true), (directory.path, false),
    ] {
      let error = #expect(throws: FileError.self) { _ = try Files.openExisting(path, write: write) }
      #expect(error?.kind == .notRegular)
    }
    let error = #expect(throws: FileError.self) {
      _ = try Files.openExisting(directory.path, write: true)
    }
    #expect(error?.kind == .notRegular)
  }

  @Test(arguments: ["", "with\u{0}nul"])
  func `has a name the kernel can hold`(_ name: String) throws {
    #expect(throws: FileError.self) { _ = try Files.createNew(name) }
    #expect(throws: FileError.self) { _ = try Files.openExisting(name, write: false) }
    #expect(throws: FileError.self) { try Files.rename(directory.path, to: name) }
  }

  @Test func `is read whole up to a maximum and refused beyond it`() throws {
    let path = directory("data")
    let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    do {
      let file = try Files.createNew(path)
      try file.write(content)
    }
    for maximum in [200_000, 200_001, 1_000_000] {
      let file = try Files.openExisting(path, write: false)
      let found = try file.readAll(maximum: maximum)
      #expect(found == content)
    }
    for maximum in [199_999, 65_536, 65_535, 1, 0] {
      let file = try Files.openExisting(path, write: false)
      let error = #expect(throws: FileError.self) { try file.readAll(maximum: maximum) }
      #expect(error?.kind == .tooLarge)
    }
  }

  @Test func `is read and written at an offset`() throws {
    let file = try Files.createNew(directory("slots"))
    try file.reserve(1024)
    #expect(try file.size == 1024)
    let some: [UInt8] = [1, 2, 3, 4]
    try file.write(some.span.bytes, at: 512)
    try file.synchronize()
    try file.synchronizeFully()
    var buffer = [UInt8](repeating: 9, count: 6)
    var span = buffer.mutableSpan
    var raw = span.mutableBytes
    let count = try file.read(into: &raw, at: 510)
    #expect(count == 6)
    #expect(buffer == [0, 0, 1, 2, 3, 4])
    var tail = [UInt8](repeating: 9, count: 6)
    var tailSpan = tail.mutableSpan
    var rawTail = tailSpan.mutableBytes
    let rest = try file.read(into: &rawTail, at: 1020)
    #expect(rest == 4)
    #expect(tail == [0, 0, 0, 0, 9, 9])
    try file.resize(to: 100)
    #expect(try file.size == 100)
  }

  @Test func `can be renamed over another and removed`() throws {
    _ = try Files.createNew(directory("a"))
    _ = try Files.createNew(directory("b"))
    let inode = try Files.inspect(directory("a"))?.inode
    try Files.rename(directory("a"), to: directory("b"))
    try Files.syncDirectory(directory.path)
    #expect(try Files.inspect(directory("b"))?.inode == inode)
    try Files.remove(directory("b"))
    #expect(try Files.inspect(directory("b")) == nil)
    let error = #expect(throws: FileError.self) { try Files.remove(directory("b")) }
    #expect(error?.kind == .notFound)
  }

  @Test func `that is a link is inspected as a link`() throws {
    symlink("nowhere", directory("link"))
    #expect(try Files.inspect(directory("link"))?.kind == .symbolicLink)
    #expect(try Files.inspect(directory.path)?.kind == .directory)
    #expect(try Files.inspect("/dev/null")?.kind == .device)
  }

  @Test(.enabled(if: geteuid() == 0, "mounting a file system needs root"))
  func `that finds the disk full says so`() throws {
    let mount = directory("full")
    mkdir(mount, 0o700)
    try run("/bin/mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", mount)
    defer { try? run("/bin/umount", mount) }
    let file = try Files.createNew(mount + "/file")
    let error = #expect(throws: FileError.self) {
      try file.write([UInt8](repeating: 1, count: 512 * 1024))
    }
    #expect(error?.kind == .full)
    #expect(error?.errno == ENOSPC)
    #expect(try Files.availableBytes(mount) == 0)
    let reservation = #expect(throws: FileError.self) { try file.reserve(1024 * 1024) }
    #expect(reservation?.kind == .full)
  }
}
