package import AccountVault
internal import CSystem
package import Sodium
internal import Synchronization

/// The key that `vault` hands to a `vault-agent` that it starts after it was unlocked: through a pipe,
/// of which nothing is left once it was read. Neither arguments nor the environment carry it, for other
/// programs can read those.
package final class InheritedKey: Sendable {
  private let key: Mutex<Key?>

  private init(_ key: consuming sending Key) { self.key = Mutex(key) }

  /// One for each session that the command opens; nil once it was forgotten.
  func copy() -> Key? {
    key.withLock { key in
      switch key {
      case .some(let key): key.copy()
      case .none: nil
      }
    }
  }

  /// Wipes it.
  func forget() { key.withLock { $0 = nil } }

  // MARK: On the way

  /// What the receiver is started with: this and the number of the pipe stand before the command.
  package static let option = "--key-fd"
  private static let passphrase: UInt8 = 1
  private static let keyFile: UInt8 = 2
  private static let lent: UInt8 = 3
  /// Bytes of the pipe's content: the longest secret and what stands before it.
  private static let limit = InputSource.lineLimit + 5

  /// One field, whose tag is the kind of key.
  package static func bytes(of key: borrowing Key) -> SecretBytes {
    switch key {
    case .passphrase(let secret): field(passphrase, secret)
    case .keyFile(let secret): field(keyFile, secret)
    case .lent(let secret): field(lent, secret)
    }
  }

  private static func field(_ tag: UInt8, _ secret: borrowing Secret) -> SecretBytes {
    var writer = SecretWriter(capacity: secret.count + 5)
    writer.field(tag, secret.bytes)
    return writer.finish()
  }

  /// The key of such bytes; nil where they hold none.
  package static func key(of bytes: borrowing SecretBytes) -> Key? {
    if let secret = try? SecretFields.field(passphrase, of: bytes) {
      return .passphrase(Secret(secret))
    }
    if let secret = try? SecretFields.field(keyFile, of: bytes) {
      return .keyFile(Secret(secret))
    }
    if let secret = try? SecretFields.field(lent, of: bytes) { return .lent(Secret(secret)) }
    return nil
  }

  /// Reads a key from a descriptor, which is closed then: no child shall have it.
  ///
  /// - Throws: `locked` where none is there.
  fileprivate static func read(from descriptor: Int32) throws(CommandFailure) -> InheritedKey {
    defer { vault_close(descriptor) }
    let name = "the key of \(option)"
    do {
      let bytes = try InputSource.descriptor(descriptor, name: name).read(limit: limit)
      if let key = Self.key(of: bytes) { return InheritedKey(key) }
    } catch {
      throw CommandFailure(.locked, error.message)
    }
    throw CommandFailure(.locked, "\(name): no key")
  }
}

extension Invocation {
  /// Wipes the key that was inherited, for a process that stays.
  package func forgetInheritedKey() { inheritedKey?.forget() }

  /// Takes `--key-fd N` from the front of the arguments, and the key from that descriptor. Only
  /// `vault-agent` knows this option, and nothing tells of it: it is no way for a person.
  ///
  /// - Throws: `usage`, `locked`.
  package mutating func takeInheritedKey() throws(CommandFailure) {
    guard arguments.first == InheritedKey.option else { return }
    guard arguments.count > 1, let number = Int32(arguments[1]), number > 2 else {
      throw CommandFailure(
        .usage, "\(InheritedKey.option) takes the number of an open pipe", hint: "vault help")
    }
    arguments.removeFirst(2)
    inheritedKey = try InheritedKey.read(from: number)
  }
}
