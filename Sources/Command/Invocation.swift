internal import CSystem
internal import FileSystem
internal import Glibc
package import Time

/// All that a run of the command takes from outside.
///
/// A test makes its own; the process's is ``ofThisProcess()``.
package struct Invocation: Sendable {
  /// Without the program's name.
  package var arguments: [String]
  package var environment: ProcessEnvironment
  package var standardInput: Int32
  package var standardOutput: Int32
  package var standardError: Int32
  /// Where a person is asked, `/dev/tty`; nil where nobody can be asked.
  package var terminalPath: String?
  package var clock: Clock
  /// Milliseconds that a question waits for its answer.
  package var questionTimeout: Int64 = 300_000

  /// The file that this process runs, links resolved; nil where it is not the command itself, which
  /// then starts no other program in its place.
  package var executable: String?
  /// As what it was started.
  package var calledAs = "vault"
  /// What `vault` handed to this `vault-agent`.
  var inheritedKey: InheritedKey?
  /// What the run works on where it is the agent's, for another process.
  var hosting: Hosting?

  /// Index of the first argument that is not UTF-8.
  fileprivate(set) var unreadableArgument: Int?

  package init(
    arguments: [String], environment: ProcessEnvironment = ProcessEnvironment([:]),
    standardInput: Int32, standardOutput: Int32, standardError: Int32,
    terminalPath: String? = nil, clock: Clock = .system
  ) {
    self.arguments = arguments
    self.environment = environment
    self.standardInput = standardInput
    self.standardOutput = standardOutput
    self.standardError = standardError
    self.terminalPath = terminalPath
    self.clock = clock
  }

  /// What this process was started with.
  ///
  /// Hardens the process first: no core dump, no death by SIGPIPE or SIGXFSZ, and none of the
  /// descriptors 0, 1 and 2 left closed, for a file opened later would take its place.
  package static func ofThisProcess() -> Invocation {
    vault_hold_standard_descriptors()
    ProcessHardening.apply()

    var arguments: [String] = []
    var unreadable: Int?
    // The process's own array, which lives as long as the process does.
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
      if let text = unsafe String(validatingCString: pointer) {
        arguments.append(text)
      } else {
        unreadable = unreadable ?? arguments.count
        arguments.append("")
      }
    }
    var invocation = Invocation(
      arguments: arguments, environment: environmentOfThisProcess(), standardInput: 0,
      standardOutput: 1, standardError: 2, terminalPath: "/dev/tty")
    invocation.unreadableArgument = unreadable
    invocation.executable = RunningProcess.executable
    if CommandLine.argc > 0, let name = unsafe CommandLine.unsafeArgv[0] {
      unsafe invocation.calledAs = String(cString: name)
    }
    return invocation
  }

  private static func environmentOfThisProcess() -> ProcessEnvironment {
    var variables: [ProcessEnvironment.Variable] = []
    // The C library's array: nothing here or below changes the environment.
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      unsafe next += 1
      guard let sign = unsafe strchr(entry, 0x3d) else { continue }
      let name = unsafe UnsafeBufferPointer(start: entry, count: sign - entry)
      unsafe variables.append(
        (
          String(decoding: UnsafeRawBufferPointer(name), as: UTF8.self),
          String(validatingCString: sign + 1)
        ))
    }
    return ProcessEnvironment(variables)
  }
}
