import Foundation

/// A terminal whose person is a test.
final class PseudoTerminal: @unchecked Sendable {
  let controller: Int32
  /// Kept open, so that the terminal lives between questions.
  private let kept: Int32
  let path: String
  private let lock = NSLock()
  private var seen = ""

  struct Unavailable: Error {}

  init() throws {
    var (controller, kept): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 128)
    guard openpty(&controller, &kept, &name, nil, nil) == 0 else { throw Unavailable() }
    self.controller = controller
    self.kept = kept
    for end in [controller, kept] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    close(controller)
    close(kept)
  }

  /// Whether what is typed is shown.
  var echoes: Bool {
    var settings = termios()
    tcgetattr(kept, &settings)
    return settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Waits until `prompt` stands at the end of the screen, then calls `then`. In order, once each.
  func whenShown(_ steps: [(prompt: String, then: @Sendable () -> Void)]) {
    Thread.detachNewThread { [self] in
      for step in steps {
        guard wait(for: step.prompt) else { return }
        step.then()
      }
    }
  }

  func type(_ text: String) { _ = text.withCString { write(controller, $0, strlen($0)) } }

  /// All that the screen has shown.
  var screen: String {
    readWhatIsThere(milliseconds: 50)
    return lock.withLock { seen }
  }

  private var searched = 0

  private func wait(for prompt: String) -> Bool {
    for _ in 0..<500 {
      readWhatIsThere(milliseconds: 20)
      let isShown = lock.withLock {
        let rest = seen.dropFirst(searched)
        guard let range = rest.range(of: prompt) else { return false }
        searched = seen.distance(from: seen.startIndex, to: range.upperBound)
        return true
      }
      if isShown { return true }
    }
    return false
  }

  private func readWhatIsThere(milliseconds: Int32) {
    var watched = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    while poll(&watched, 1, milliseconds) > 0, watched.revents & Int16(POLLIN) != 0 {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(controller, &buffer, buffer.count)
      if count <= 0 { return }
      lock.withLock { seen += String(decoding: buffer[..<count], as: UTF8.self) }
    }
  }
}
