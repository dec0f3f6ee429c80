internal import CSystem
internal import Command
internal import Synchronization

/// What a service manager such as systemd hands to the agent, and is told by it (`sd_notify(3)`,
/// `sd_listen_fds(3)`).
final class ServiceManager: Sendable {
  /// The variables of this protocol; no hook is given them.
  static let variables = [
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
    "MAINPID",
  ]

  private let address: String?
  /// Nanoseconds between two signs of life: half of what the manager waits. Nil where it asks none.
  let watchdog: Int64?
  /// Sockets that were given, by the name that the unit gives them.
  let sockets: [(name: String, socket: ListeningSocket)]

  /// Takes over what was handed to this process.
  ///
  /// - Throws: `config` where a descriptor is no Unix socket that listens, or has no known name.
  init(_ environment: ProcessEnvironment, process: Int32) throws(CommandFailure) {
    address = try environment.value("NOTIFY_SOCKET")
    watchdog = Self.watchdog(
      try environment.value("WATCHDOG_USEC"), try environment.value("WATCHDOG_PID"), process)
    var sockets: [(name: String, socket: ListeningSocket)] = []
    guard let wanted = try environment.value("LISTEN_PID").flatMap({ Int32($0) }),
      wanted == process,
      let count = try environment.value("LISTEN_FDS").flatMap({ Int32($0) }), count > 0
    else {
      self.sockets = []
      return
    }
    let names = (try environment.value("LISTEN_FDNAMES") ?? "").split(
      separator: ":", omittingEmptySubsequences: false)
    for index in 0..<min(count, 16) {
      // SD_LISTEN_FDS_START
      let descriptor = 3 + index
      let name = Int(index) < names.count ? String(names[Int(index)]) : ""
      guard name == "owner" || name == "apps" else {
        throw CommandFailure(
          .config,
          "socket \(index + 1) of the service manager: its name is \"\(name)\", not owner or apps")
      }
      guard vault_take_listener(descriptor) == 1 else {
        throw CommandFailure(
          .config, "the socket \(name) of the service manager: no Unix socket that listens")
      }
      var path = [CChar](repeating: 0, count: 256)
      // The C side writes at most so many bytes, with their NUL.
      let error = unsafe vault_socket_path(descriptor, &path, path.count)
      let text = String(
        decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard error == 0, text.hasPrefix("/") else {
        throw CommandFailure(
          .config, "the socket \(name) of the service manager: it stands at no path")
      }
      sockets.append((name, ListeningSocket(descriptor: descriptor, path: text, isOurs: false)))
    }
    self.sockets = sockets
  }

  private static func watchdog(_ microseconds: String?, _ meant: String?, _ process: Int32)
    -> Int64?
  {
    guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 0,
      meant == nil || meant.flatMap({ Int32($0) }) == process
    else { return nil }
    return microseconds.multipliedReportingOverflow(by: 500).partialValue
  }

  /// Sends lines such as `READY=1`. What fails here has nobody to be told.
  func tell(_ lines: String...) {
    guard let address else { return }
    _ = unsafe vault_notify(address, lines.joined(separator: "\n"))
  }
}
