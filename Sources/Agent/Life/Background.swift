internal import AccountVault
internal import CSystem
internal import Command
internal import FileSystem
internal import Sodium

/// `vault agent --background`: the agent as a process of its own, and the word that it is ready.
///
/// The process that was started by hand hands its key on, waits, and ends. Where the agent fails before
/// it is ready, its messages stand on the same standard error and its exit code is passed on.
struct Background: Sendable {
  /// Stands before the command in the arguments of the process that stays. It is no way for a person.
  private static let option = "--ready-fd"
  private static let ready: Int32 = 4
  private static let leader: Int32 = 5

  /// Whether the descriptor of the login session's leader came along.
  private let hasLeader: Bool

  /// Takes `--ready-fd 4` or `--ready-fd 4,5` from the front of the arguments.
  ///
  /// - Returns: Nil where this process is not the one in the background.
  static func take(_ invocation: inout Invocation) -> Background? {
    guard invocation.arguments.first == option, invocation.arguments.count > 1 else { return nil }
    let numbers = invocation.arguments[1]
    invocation.arguments.removeFirst(2)
    return Background(hasLeader: numbers == "\(ready),\(leader)")
  }

  /// The leader of the session from which it was started. To be called once.
  func takeLeader() -> Descriptor? {
    guard hasLeader else { return nil }
    return Descriptor(adopting: Self.leader, path: "session leader")
  }

  /// Leaves the terminal, and then says that the agent is ready.
  ///
  /// - Throws: `failed` where nobody waits for it any more.
  func tellReady() throws(CommandFailure) {
    let error = vault_leave_terminal()
    var byte: UInt8 = 1
    // One byte of our own.
    let writeError = unsafe vault_write_all(Self.ready, &byte, 1)
    vault_close(Self.ready)
    guard error == 0, writeError == 0 else {
      throw CommandFailure(.failed, "nobody waits for the agent any more")
    }
  }

  /// Starts the agent and waits until it is ready.
  ///
  /// - Returns: Its exit status where it ended instead.
  static func start(_ context: Context) throws(CommandFailure) -> ExitStatus {
    guard let path = RunningProcess.executable else {
      throw CommandFailure(.failed, "vault-agent: its own file is not there", hint: "vault doctor")
    }
    let session = LifeLoop.sessionLeader()
    let number: Int32 =
      switch session {
      case .some(let session): session.rawValue
      case .none: -1
      }
    var arguments = [path, option, number < 0 ? "\(ready)" : "\(ready),\(leader)"]
    var secret = SecretBytes(count: 0)
    if let key = try context.secrets.givenKey() {
      secret = InheritedKey.bytes(of: key)
      arguments += [InheritedKey.option, "3"]
    }
    arguments += context.invocation.arguments.filter { $0 != "--background" }
    let environment = context.invocation.environment.entries
    var child: Int32 = 0
    var end: Int32 = -1
    let error = ProcessHardening.withChildLimits {
      secret.withBytes { bytes in
        // All texts and the secret are lent for the call; the child has copies of them then.
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe vault_spawn_background(
            path, CStrings.packed(arguments), Int32(arguments.count), CStrings.packed(environment),
            Int32(environment.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count, context.invocation.standardError, number, &child, &end)
        }
      }
    }
    if error != 0 {
      throw CommandFailure(.failed, "\(path): \(SystemText.of(error))", hint: "vault doctor")
    }
    defer { vault_close(end) }
    var byte: UInt8 = 0
    var count = 0
    // Ends with the word, or with the child.
    let readError = unsafe vault_read_to_end(end, &byte, 1, Int64.max / 2_000_000, &count)
    if readError == 0, count == 1 { return .ok }
    var exited: Int32 = 0
    var code: Int32 = 0
    let waitError = unsafe vault_wait_child(child, &exited, &code)
    if waitError != 0 { throw CommandFailure(.failed, "\(path): \(SystemText.of(waitError))") }
    if exited == 0 { throw CommandFailure(.failed, "\(path): ended by signal \(code)") }
    guard code != 0, let status = ExitStatus(rawValue: code) else {
      throw CommandFailure(.failed, "\(path): ended before it was ready")
    }
    return status
  }
}
