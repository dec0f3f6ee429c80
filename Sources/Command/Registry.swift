/// What a command does. It writes data and notes by the context's terminal and returns its status;
/// it never ends the process, so that every secret is wiped on the way out.
package typealias CommandFunction =
  @Sendable (inout Context) throws(CommandFailure) -> ExitStatus

/// The commands' functions by name. ``CommandTable`` has the words.
enum Registry {
  static func function(named name: String) -> CommandFunction? {
    switch name {
    case "completions": CompletionsCommand.run
    case "help": HelpCommand.run
    case "manual": ManualCommand.run
    case "version": VersionCommand.run
    default: nil
    }
  }
}
