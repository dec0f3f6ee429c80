import AccountVault
import Command
import FileSystem
import Sodium
import Synchronization

/// Where the answer to a request goes while it comes: standard output, or a file that gets its name at
/// the end. A refusal goes to standard output in any case.
final class RequestOutput: ResponseReceiver {
  private struct State {
    var failure: CommandFailure?
    var isInFile = false
    var visible: VisibleBytes?
    var shownAt: ContinuousClock.Instant?
  }

  private let state: Mutex<State>
  private let file: ReplacedFile?
  private let path: String
  private let includesHead: Bool
  private let write: @Sendable (RawSpan) -> Int32
  private let showProgress: (@Sendable (String) -> Void)?
  private let began = ContinuousClock.now

  /// Makes the file at once: where it cannot be written nothing is sent.
  ///
  /// - Throws: `io` for such a place.
  init(_ context: Context) throws(CommandFailure) {
    let terminal = context.terminal
    try terminal.flush()
    includesHead = context.arguments.has("include")
    let path = context.arguments.text("output").flatMap { $0 == "-" ? nil : $0 }
    self.path = path ?? ""
    do throws(FileError) {
      file = try path.map { path throws(FileError) in
        try ReplacedFile(path, suffix: String(UInt64.random(in: .min ... .max), radix: 36))
      }
    } catch {
      throw Self.failure(error, path ?? "")
    }
    write = terminal.dataWriter
    // Where both are one screen, each would overwrite the other.
    showProgress = file == nil && terminal.outputIsTerminal ? nil : terminal.progressWriter
    state = Mutex(State(visible: terminal.outputIsTerminal ? VisibleBytes() : nil))
  }

  private static func failure(_ error: FileError, _ path: String) -> CommandFailure {
    CommandFailure(.io, "\(path): \(error.text.prefix(1).lowercased() + error.text.dropFirst())")
  }

  // MARK: From the network

  func begin(status: Int, headers: [(name: String, value: String)]) {
    state.withLock { $0.isInFile = file != nil && (200...299).contains(status) }
    guard includesHead else { return }
    var head = "HTTP/1.1 \(status) \r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    _ = unsafe receive(Array((head + "\r\n").utf8).span.bytes)
  }

  func receive(_ piece: RawSpan) -> Bool {
    state.withLock { state in
      guard state.failure == nil else { return false }
      if state.isInFile, let file {
        do throws(FileError) { try file.write(piece) } catch {
          state.failure = Self.failure(error, path)
        }
      } else {
        put(piece, &state)
      }
      return state.failure == nil
    }
  }

  private func put(_ piece: RawSpan, _ state: inout State) {
    guard var visible = state.visible else {
      state.failure = Terminal.failure(of: write(piece))
      return
    }
    let shown = visible.shown(piece)
    state.visible = visible
    state.failure = Terminal.failure(of: write(unsafe shown.span.bytes))
  }

  func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?) {
    guard let showProgress else { return }
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      // A short one is over before a line of it could be read.
      guard now - began > .seconds(2), state.shownAt.map({ now - $0 > .milliseconds(250) }) ?? true
      else { return false }
      state.shownAt = now
      return true
    }
    guard isDue else { return }
    let isUpload = received == 0
    showProgress(
      isUpload ? "sent " + Self.text(sent, ofSent) : "received " + Self.text(received, ofReceived))
  }

  private static func text(_ done: Int64, _ all: Int64?) -> String {
    guard let all, all > 0, done <= all else { return "\(done) bytes" }
    return "\(done) of \(all) bytes (\(Int(100 * Double(done) / Double(all))) %)"
  }

  // MARK: At the end

  /// - Throws: What stood against writing the answer; silent where the reader went away.
  func check() throws(CommandFailure) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Gives the file its name, or hands what is in it to standard output where it is a refusal: some
  /// come with a status of success.
  func finish(isRefusal: Bool) throws(CommandFailure) {
    guard let file, state.withLock({ $0.isInFile }) else { return }
    do throws(FileError) {
      if isRefusal {
        state.withLock { $0.isInFile = false }
        try file.readBack { receive($0) }
      } else {
        try file.publish()
      }
    } catch {
      throw Self.failure(error, path)
    }
    try check()
  }

  /// Removes the file, unless it has its name.
  func discard() { file?.discard() }
}
