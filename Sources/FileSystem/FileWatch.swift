internal import CSystem
import Glibc
import Synchronization

/// Tells when files of one directory are written, made or replaced, by whichever process (inotify).
///
/// The kernel keeps what happens between two waits, so nothing is missed from the moment it was made.
/// It says that something may have changed, not what: a write is told before the one who wrote has
/// finished. One task waits at a time.
package final class FileWatch: Sendable {
  private let events: Descriptor
  /// Can be read once a wait is to end.
  private let wakes: Descriptor
  /// A byte written here ends a wait.
  private let wake: Descriptor
  private let names: Set<String>

  /// Watches files by their names in a directory; a file need not be there yet.
  ///
  /// - Throws: ``FileError`` where the kernel has no more watches, or the directory cannot be watched.
  package init(_ names: Set<String>, in directory: String) throws(FileError) {
    let events = Descriptor(
      adopting: try SystemCall.run("watch", directory) {
        inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
      }, path: directory)
    let number = events.rawValue
    let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF)
    // The path lives through the call.
    try unsafe SystemCall.run("watch", path: directory) {
      unsafe inotify_add_watch(number, $0, mask)
    }
    var ends: [Int32] = [-1, -1]
    _ = try SystemCall.run("watch", directory) { unsafe vault_open_wake(&ends) }
    wakes = Descriptor(adopting: ends[0], path: directory)
    wake = Descriptor(adopting: ends[1], path: directory)
    self.events = events
    self.names = names
  }

  /// Waits until one of the files may have changed since the last wait.
  ///
  /// A thread of its own stands in the kernel meanwhile; the caller's is free.
  ///
  /// - Returns: False where `milliseconds` passed first, or the task was cancelled.
  package func wait(milliseconds: Int64) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wait = Wait(watch: self, milliseconds: milliseconds, continuation: continuation)
        // The thread owns it until it ends.
        let context = unsafe Unmanaged.passRetained(wait)
        var thread = pthread_t()
        let code = unsafe pthread_create(
          &thread, nil,
          { context in
            guard let context = unsafe context else { return nil }
            unsafe Unmanaged<Wait>.fromOpaque(context).takeRetainedValue().run()
            return nil
          }, context.toOpaque())
        if code == 0 {
          pthread_detach(thread)
        } else {
          unsafe context.release()
          // No thread to be had: the caller looks for itself.
          continuation.resume(returning: true)
        }
      }
    } onCancel: {
      var byte: UInt8 = 1
      // Where the pipe is full it is readable already.
      _ = unsafe write(wake.rawValue, &byte, 1)
    }
  }

  private final class Wait: Sendable {
    let watch: FileWatch
    let milliseconds: Int64
    let continuation: CheckedContinuation<Bool, Never>

    init(watch: FileWatch, milliseconds: Int64, continuation: CheckedContinuation<Bool, Never>) {
      self.watch = watch
      self.milliseconds = milliseconds
      self.continuation = continuation
    }

    func run() {
      // Signals are for the program's own threads.
      var all = sigset_t()
      unsafe sigfillset(&all)
      unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
      continuation.resume(returning: watch.poll(milliseconds))
    }
  }

  /// Stands in the kernel until one of the files changes, somebody wakes it, or the time is over.
  private func poll(_ milliseconds: Int64) -> Bool {
    let end = Self.now() + milliseconds
    while true {
      if takeEvents() { return true }
      let left = end - Self.now()
      if left <= 0 { return false }
      var watched = [
        pollfd(fd: events.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakes.rawValue, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe Glibc.poll(&watched, 2, Int32(clamping: left))
      if watched[1].revents != 0 {
        var byte: UInt8 = 0
        while unsafe read(wakes.rawValue, &byte, 1) > 0 {}
        return false
      }
    }
  }

  /// Takes what the kernel has noted; whether any of it concerns the files.
  private func takeEvents() -> Bool {
    var isOurs = false
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let number = events.rawValue
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(number, bytes.baseAddress, bytes.count)
      }
      guard count > 0 else { return isOurs }
      // struct inotify_event: wd, mask, cookie, the name's length with its zeros, the name.
      unsafe buffer.withUnsafeBytes { bytes in
        var at = 0
        while at + 16 <= count {
          let mask = unsafe bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
          let length = Int(unsafe bytes.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self))
          guard at + 16 + length <= count else { return }
          // Where the queue ran over, or the directory went, anything may have happened.
          let isUnsure = mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF) != 0
          var name: [UInt8] = []
          for index in at + 16..<at + 16 + length {
            let byte = unsafe bytes[index]
            if byte == 0 { break }
            name.append(byte)
          }
          if isUnsure || names.contains(String(decoding: name, as: UTF8.self)) { isOurs = true }
          at += 16 + length
        }
      }
    }
  }

  /// Milliseconds on `CLOCK_BOOTTIME`.
  private static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
