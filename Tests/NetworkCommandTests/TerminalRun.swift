import Foundation

/// A program that runs in a session of its own, with a terminal whose person is the test, or with none.
final class TerminalRun {
  private let process: pid_t
  /// The person's end; nil without a terminal.
  private let controller: FileHandle?
  private let output: FileHandle?
  /// The terminal itself, which lives as long as somebody has it open.
  private let kept: FileHandle?
  private var status: Int32?
  /// All that was shown so far.
  private(set) var screen = ""

  enum End: Equatable { case exit(Int32), signal(Int32) }

  struct Failed: Error { let what: String }

  /// - Parameter hasTerminal: Whether the program has a controlling terminal, which is its standard
  ///   input, output and error as well; else it reads from nothing and writes to a pipe.
  init(
    _ path: String, _ arguments: [String], environment: [String: String], hasTerminal: Bool = true
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let pipe = Pipe()
    if hasTerminal {
      var (end, other): (Int32, Int32) = (-1, -1)
      var name = [CChar](repeating: 0, count: 128)
      guard openpty(&end, &other, &name, nil, nil) == 0 else {
        throw Failed(what: "no pseudo-terminal")
      }
      for descriptor in [end, other] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      kept = FileHandle(fileDescriptor: other, closeOnDealloc: true)
      // A session's first process gets the terminal that it opens as its own.
      posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, 0, 1)
      posix_spawn_file_actions_adddup2(&actions, 0, 2)
      controller = FileHandle(fileDescriptor: end, closeOnDealloc: true)
      output = nil
    } else {
      let end = pipe.fileHandleForWriting.fileDescriptor
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, end, 1)
      posix_spawn_file_actions_adddup2(&actions, end, 2)
      controller = nil
      kept = nil
      output = pipe.fileHandleForReading
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // POSIX_SPAWN_SETSID, before the files are opened.
    posix_spawnattr_setflags(&attributes, 0x80)
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var started: pid_t = 0
    let error = posix_spawn(&started, path, &actions, &attributes, &words, &variables)
    try pipe.fileHandleForWriting.close()
    guard error == 0 else { throw Failed(what: "\(path): \(error)") }
    process = started
  }

  deinit {
    guard status == nil else { return }
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  func type(_ text: String) throws {
    try controller?.write(contentsOf: Data(text.utf8))
  }

  /// Waits, for a minute at most, until a text is shown.
  func wait(for text: String) throws {
    for _ in 0..<1200 {
      if screen.contains(text) { return }
      look(milliseconds: 50)
    }
    throw Failed(what: "never shown: \(text), but: \(screen)")
  }

  /// Waits, for a minute at most, until the program has ended.
  func end() throws -> End {
    for _ in 0..<1200 {
      var raw: Int32 = 0
      if waitpid(process, &raw, WNOHANG) == process {
        status = raw
        look(milliseconds: 0)
        return raw & 0x7f == 0 ? .exit(raw >> 8 & 0xff) : .signal(raw & 0x7f)
      }
      look(milliseconds: 50)
    }
    throw Failed(what: "it did not end: \(screen)")
  }

  private func look(milliseconds: Int32) {
    guard let end = (controller ?? output)?.fileDescriptor else { return }
    var watched = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
    while poll(&watched, 1, milliseconds) > 0, watched.revents & Int16(POLLIN) != 0 {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(end, &buffer, buffer.count)
      if count <= 0 { return }
      screen += String(decoding: buffer[..<count], as: UTF8.self)
    }
    // The other end is closed: nothing more comes, and poll would not wait.
    if watched.revents & Int16(POLLHUP) != 0, milliseconds > 0 { usleep(10_000) }
  }
}
