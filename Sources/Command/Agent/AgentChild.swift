package import AccountVault
internal import CSystem
internal import FileSystem
internal import Sodium

/// Runs `vault-agent` with the key that has unlocked this run's vault, and waits for its end: for a
/// command that learns only after unlocking that it needs the network.
///
/// The child looks at the same vault. It has an empty standard input, writes no data, and shares
/// standard error and the terminal, so that its errors and questions reach the person. No session of
/// this process may hold a lock that it needs.
///
/// - Parameter arguments: The command and its own arguments and options.
/// - Returns: The child's exit code.
/// - Throws: `failed` where it is not there or did not end by itself; `usage` where the context has no
///   vault.
package func runAgent(
  _ arguments: [String], key: consuming Key, context: Context
) throws(CommandFailure) -> Int32 {
  // A child of the agent's would have neither the caller's terminal nor its environment.
  if context.invocation.hosting != nil { throw .needsCaller }
  let path = try AgentProgram.path(for: context.invocation)
  var all = [path, InheritedKey.option, "3"]
  all += arguments
  all += ["--vault", try context.vaultPath()]
  for flag in ["allow-expensive-kdf", "network-fs", "quiet", "verbose"] {
    if context.arguments.has(flag) { all.append("--\(flag)") }
  }
  let environment = context.invocation.environment.entries
  let secret = InheritedKey.bytes(of: key)
  var child: Int32 = 0
  let error = ProcessHardening.withChildLimits {
    secret.withBytes { bytes in
      // All texts and the secret are lent for the call; the child has copies of them then.
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe vault_spawn_agent(
          path, CStrings.packed(all), Int32(all.count), CStrings.packed(environment),
          Int32(environment.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
          bytes.count, context.invocation.standardError, &child)
      }
    }
  }
  if error != 0 {
    throw CommandFailure(.failed, "\(path): \(SystemText.of(error))", hint: "vault doctor")
  }
  var exited: Int32 = 0
  var code: Int32 = 0
  let waitError = unsafe vault_wait_child(child, &exited, &code)
  if waitError != 0 { throw CommandFailure(.failed, "\(path): \(SystemText.of(waitError))") }
  if exited == 0 { throw CommandFailure(.failed, "\(path): ended by signal \(code)") }
  return code
}
