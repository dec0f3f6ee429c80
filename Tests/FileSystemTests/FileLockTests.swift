import FileSystem
import Foundation
import TestSupport
import Testing

@Suite struct `A lock on a byte` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// True when the byte could be locked; the lock is let go at once.
  func isFree(_ byte: Int64) throws -> Bool {
    let lock = try FileLock.acquire(directory("lock"), byte: byte, wait: false)
    return lock != nil
  }

  @Test func `excludes another holder in the same process until it is dropped`() throws {
    do {
      let lock = try FileLock.acquire(directory("lock"), byte: 7, wait: false)
      let isHeld = lock != nil
      #expect(isHeld)
      #expect(try !isFree(7))
      #expect(try isFree(8))
      // The close of the second descriptor above has not dropped the first lock.
      #expect(try !isFree(7))
    }
    #expect(try isFree(7))
  }

  @Test func `reaches as far as the 62 bits of a row's number`() throws {
    let lock = try FileLock.acquire(directory("lock"), byte: (1 << 62) - 1, wait: true)
    let isHeld = lock != nil
    #expect(isHeld)
    #expect(try !isFree((1 << 62) - 1))
    #expect(try isFree((1 << 62) - 2))
    #expect(throws: FileError.self) {
      _ = try FileLock.acquire(directory("lock"), byte: -1, wait: false)
    }
  }

  @Test func `makes its file private, and refuses a link in its place`() throws {
    _ = try isFree(0)
    #expect(try Files.inspect(directory("lock"))?.mode == 0o600)
    #expect(try Files.inspect(directory("lock"))?.size == 0)
    symlink("lock", directory("link"))
    let error = #expect(throws: FileError.self) {
      _ = try FileLock.acquire(directory("link"), byte: 0, wait: false)
    }
    #expect(error?.kind == .symbolicLink)
  }

  /// Another process that takes the lock, says so, and holds it until it is killed or told to end.
  func holder(of byte: Int64) throws -> (process: Process, input: Pipe) {
    let script = """
      import fcntl, os, struct, sys
      d = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
      F_OFD_SETLKW = 38
      fcntl.fcntl(d, F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, int(sys.argv[2]), 1, 0))
      print("held", flush=True)
      sys.stdin.read()
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, directory("lock"), String(byte)]
    let output = Pipe()
    let input = Pipe()
    process.standardOutput = output
    process.standardInput = input
    try process.run()
    let said = output.fileHandleForReading.readData(ofLength: 5)
    try #require(String(decoding: said, as: UTF8.self) == "held\n")
    return (process, input)
  }

  @Test func `excludes another process and is freed when that is killed`() throws {
    let other = try holder(of: 42)
    #expect(try !isFree(42))
    #expect(try isFree(43))
    kill(other.process.processIdentifier, SIGKILL)
    other.process.waitUntilExit()
    #expect(try isFree(42))
  }

  @Test func `is waited for while another process holds it`() throws {
    let other = try holder(of: 5)
    let path = directory("lock")
    let released = Date(timeIntervalSinceNow: 0.2)
    Thread.detachNewThread {
      Thread.sleep(until: released)
      try? other.input.fileHandleForWriting.close()
    }
    let lock = try FileLock.acquire(path, byte: 5, wait: true)
    let isHeld = lock != nil
    #expect(isHeld)
    #expect(Date() >= released)
    other.process.waitUntilExit()
  }

  @Test func `keeps another process out`() throws {
    let lock = try FileLock.acquire(directory("lock"), byte: 9, wait: false)
    let isHeld = lock != nil
    #expect(isHeld)
    let script = """
      import fcntl, os, struct, sys
      d = os.open(sys.argv[1], os.O_RDWR)
      try:
        fcntl.fcntl(d, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 9, 1, 0))
      except BlockingIOError:
        sys.exit(0)
      sys.exit(1)
      """
    try run("/usr/bin/env", "python3", "-c", script, directory("lock"))
  }
}
