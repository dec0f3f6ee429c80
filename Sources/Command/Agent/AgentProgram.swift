internal import CSystem
internal import FileSystem

/// The second executable, `vault-agent`: it takes the same command line and links what listens and
/// calls out, which `vault` does without to start fast.
enum AgentProgram {
  static let name = "vault-agent"

  /// Replaces this process by `vault-agent`, with the same arguments, environment and descriptors.
  ///
  /// To be called before anything was read or unlocked.
  ///
  /// - Returns: Why it could not; otherwise not at all.
  static func become(_ invocation: Invocation) -> CommandFailure {
    let path: String
    do {
      path = try self.path(for: invocation)
    } catch {
      return error
    }
    let arguments = [path] + invocation.arguments
    ProcessHardening.restore()
    let error = unsafe vault_become(
      path, CStrings.packed(arguments), Int32(arguments.count))
    ProcessHardening.apply()
    return CommandFailure(.failed, "\(path): \(SystemText.of(error))", hint: "vault doctor")
  }

  /// Where it is: beside this executable, or in `../libexec/accountvault` from there. It is never
  /// looked for in PATH, where somebody else's program of that name may stand first.
  ///
  /// - Throws: `failed` where it is in neither place.
  static func path(for invocation: Invocation) throws(CommandFailure) -> String {
    guard let executable = invocation.executable else {
      throw CommandFailure(.failed, "\(name): only an executable starts it")
    }
    // A copy of this program under that name would start itself for ever.
    if lastComponent(invocation.calledAs) == name {
      throw CommandFailure(
        .failed, "\(executable): this is vault, but it was started as \(name)",
        hint: "vault doctor")
    }
    let folder = executable.prefix(
      upTo: executable.lastIndex(of: "/") ?? executable.startIndex)
    let places = ["\(folder)/\(name)", "\(folder)/../libexec/accountvault/\(name)"]
    for place in places where unsafe vault_may_run(place) == 1 { return place }
    throw CommandFailure(
      .failed, "\(places[0]): not there, and this command needs it for the network",
      hint: "vault doctor")
  }

  /// What `vault doctor` says of it; nil where no executable runs.
  static func finding(_ invocation: Invocation) -> JSONObject? {
    guard invocation.executable != nil else { return nil }
    var object = JSONObject()
    object.add("check", "network")
    do {
      _ = try path(for: invocation)
      object.add("state", "ok")
      object.add("detail", "\(name) is there")
    } catch {
      object.add("state", "warning")
      object.add("detail", "no \(name), which stands beside vault or in ../libexec/accountvault")
    }
    object.add("hint", String?.none)
    return object
  }

  private static func lastComponent(_ path: String) -> Substring {
    path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
  }
}
