internal import CSystem

/// The signals that ask a process to end, held while a command waits for something that must end in
/// order.
package enum Interrupts {
  /// From now on they end nothing, and are remembered.
  package static func hold() { vault_interrupts_hold() }

  /// They end the process again.
  package static func release() { vault_interrupts_release() }

  /// Whether one came since they are held.
  package static var hasCome: Bool { vault_interrupted() != 0 }
}
