internal import CSystem
internal import Faults
internal import FileSystem
package import Sodium

/// A file of 32 random bytes that opens a vault, mode 0400 or 0600.
package enum KeyFile {
  static let count = 32

  /// Reads the key.
  ///
  /// - Parameter isGuarded: The file stands in a directory that the system guards, such as systemd's
  ///   credentials; its mode says nothing.
  /// - Throws: `locked` where it is not there, is no key, or others may read it: then the key is no
  ///   secret any more, and the hint is the command that closes it.
  package static func read(
    _ path: String, isGuarded: Bool = false
  ) throws(CommandFailure) -> SecretBytes {
    do throws(CommandFailure) {
      return try readKey(path, isGuarded)
    } catch {
      // Too long for a key is no question of usage here.
      if error.status == .usage { throw wrongCount(path) }
      throw CommandFailure(.locked, error.message, hint: error.hint)
    }
  }

  private static func readKey(
    _ path: String, _ isGuarded: Bool
  ) throws(CommandFailure) -> SecretBytes {
    let source = try InputSource.file(path)
    guard source.isRegularFile else { throw CommandFailure(.locked, "\(path): not a file") }
    if !isGuarded {
      guard source.mode == 0o600 || source.mode == 0o400 else {
        throw CommandFailure(
          .locked, "\(path): mode \(octal(source.mode)), but a key file has 0400 or 0600",
          hint: "chmod 600 \(ShellText.quoted(path))")
      }
      let user = vault_effective_user()
      guard source.owner == user || source.owner == 0 || user == 0 else {
        throw CommandFailure(.locked, "\(path): a key file of another user")
      }
    }
    let key = try source.read(limit: count)
    guard key.count == count else { throw wrongCount(path) }
    return key
  }

  /// Reads the key, or makes it where nothing is at `path`: 32 random bytes, mode 0600 from the
  /// first moment, on the disk when this returns.
  package static func readOrMake(_ path: String) throws(CommandFailure) -> SecretBytes {
    let isThere: Bool
    do {
      isThere = try Files.inspect(path) != nil
    } catch {
      throw failure(error, path)
    }
    if isThere { return try read(path) }
    do {
      return try make(path)
    } catch {
      throw failure(error, path)
    }
  }

  private static func make(_ path: String) throws(FileError) -> SecretBytes {
    let key = SecretBytes.random(count: count)
    // Under another name first: a kill must not leave half a key that the next try refuses.
    let draft = "\(path).new-\(RunningProcess.current)"
    do throws(FileError) {
      let file = try Files.createNew(draft)
      try key.withBytes { bytes throws(FileError) in try file.write(bytes) }
      try file.synchronizeFully()
      try Files.publish(draft, as: path)
    } catch {
      try? Files.remove(draft)
      throw error
    }
    return key
  }

  private static func failure(_ error: FileError, _ path: String) -> CommandFailure {
    CommandFailure(
      error.kind == .exists ? .exists : .io,
      "\(path): \(SystemText.of(error.errno))")
  }

  private static func wrongCount(_ path: String) -> CommandFailure {
    CommandFailure(.locked, "\(path): a key file has \(count) bytes, no more and no fewer")
  }

  private static func octal(_ mode: UInt32) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
