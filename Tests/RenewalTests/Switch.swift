import Synchronization

/// Something that is off until it is turned on.
final class BooleanSwitch: Sendable {
  private let state = Mutex(false)

  var isOn: Bool { state.withLock { $0 } }

  func turnOn() { state.withLock { $0 = true } }
}
