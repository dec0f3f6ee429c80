internal import CSystem
internal import FileSystem
internal import Sodium

/// The command of `$VAULT_PASSPHRASE_COMMAND`, whose standard output is the passphrase.
enum PassphraseCommand {
  private static let name = "$VAULT_PASSPHRASE_COMMAND"

  /// Runs it by `/bin/sh -c` with the caller's environment, an empty standard input and the limits
  /// and signals that this process was started with.
  ///
  /// The command's text and its output are in no message.
  ///
  /// - Throws: `locked` where it cannot be started, fails, prints no line or more than one, or takes
  ///   longer than five minutes.
  static func run(
    _ command: String, environment: ProcessEnvironment
  ) throws(CommandFailure) -> SecretBytes {
    let entries = environment.entries
    var child: Int32 = 0
    var output: Int32 = -1
    let error = ProcessHardening.withChildLimits {
      unsafe vault_spawn_shell(
        command, CStrings.packed(entries), Int32(entries.count), &child, &output)
    }
    if error != 0 { throw CommandFailure(.locked, "\(name): \(SystemText.of(error))") }
    let bytes: SecretBytes
    do {
      defer { vault_close(output) }
      bytes = try InputSource.descriptor(output, name: name).read(limit: InputSource.lineLimit)
    } catch {
      vault_end_child(child)
      throw CommandFailure(.locked, error.message)
    }
    var exited: Int32 = 0
    var code: Int32 = 0
    let waitError = unsafe vault_wait_child(child, &exited, &code)
    if waitError != 0 { throw CommandFailure(.locked, "\(name): \(SystemText.of(waitError))") }
    if exited == 0 { throw CommandFailure(.locked, "\(name): ended by signal \(code)") }
    if code != 0 { throw CommandFailure(.locked, "\(name): exit status \(code)") }
    do {
      return try SecretText.line(bytes, from: name)
    } catch {
      throw CommandFailure(.locked, error.message)
    }
  }
}
