internal import CSystem
internal import Command
internal import Time

/// The options of `vault agent`, read.
struct AgentOptions: Sendable {
  var apps = AppsSocketOptions()
  /// Requests that one app may make in a second.
  var appRate = AppGate.usualRate
  var log: (level: Log.Level, isJSON: Bool) = (.info, false)
  /// What was said of locking; nil where the usual applies.
  var lockAfter: LockLimit?
  var lockAtMost: LockLimit?

  /// `--lock-after` and `--lock-at-most`.
  enum LockLimit: Sendable, Equatable {
    case never
    /// Seconds.
    case seconds(Int64)
  }

  /// - Throws: `usage`, `config` where there is no such group.
  init(_ context: Context) throws(CommandFailure) {
    let arguments = context.arguments
    apps.path = arguments.text("apps-socket")
    if let path = apps.path, !path.hasPrefix("/") {
      throw context.usage("--apps-socket takes a path that begins with /")
    }
    if let text = arguments.text("apps-mode") {
      guard let mode = UInt32(text, radix: 8), mode <= 0o777, mode & 0o600 == 0o600 else {
        throw context.usage("--apps-mode takes permission bits in octal, such as 0660 or 0666")
      }
      apps.mode = mode
    }
    if let name = arguments.text("apps-group") {
      var group: UInt32 = 0
      // Our own variable, lent for the call.
      let error = unsafe vault_group_number(name, &group)
      guard error == 0 else {
        throw CommandFailure(
          .config, "--apps-group: there is no group \(name)", hint: "getent group")
      }
      apps.group = group
      if arguments.text("apps-mode") == nil { apps.mode = 0o660 }
    }
    if let rate = try context.integer("app-rate", in: 1...1_000_000) { appRate = Int(rate) }
    log.isJSON = arguments.text("log-format") == "json"
    if let name = arguments.text("log-level"), let level = Log.Level(named: name) {
      log.level = level
    }
    lockAfter = try Self.limit("lock-after", context)
    lockAtMost = try Self.limit("lock-at-most", context)
  }

  private static func limit(_ name: String, _ context: Context) throws(CommandFailure) -> LockLimit?
  {
    guard let text = context.arguments.text(name) else { return nil }
    if text == "never" { return .never }
    guard let seconds = DurationText.parse(text), seconds > 0, seconds <= 100 * 366 * 86_400 else {
      throw context.usage("--\(name) takes a duration such as 90s, 15m or 12h, or never")
    }
    return .seconds(seconds)
  }

  /// The limits of a vault that was unlocked so: an unattended agent must not lock itself overnight.
  func limits(isUnattended: Bool) -> Keeper.Limits {
    func seconds(_ given: LockLimit?, _ usual: Int64) -> Int64? {
      switch given {
      case .never: nil
      case .seconds(let seconds): seconds
      case nil: isUnattended ? nil : usual
      }
    }
    return Keeper.Limits(idle: seconds(lockAfter, 600), lifetime: seconds(lockAtMost, 7200))
  }
}
