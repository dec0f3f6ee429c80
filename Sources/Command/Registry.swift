/// What a command does. It writes data and notes by the context's terminal and returns its status;
/// it never ends the process, so that every secret is wiped on the way out.
package typealias CommandFunction =
  @Sendable (inout Context) throws(CommandFailure) -> ExitStatus

/// The commands' functions by name. ``CommandTable`` has the words.
enum Registry {
  static func function(named name: String) -> CommandFunction? {
    switch name {
    case "init": InitCommand.run
    case "add-account": AddAccountCommand.run
    case "accounts": AccountsCommand.run
    case "show-account": ShowAccountCommand.run
    case "rename-account": RenameAccountCommand.run
    case "remove-account": RemoveAccountCommand.run
    case "add-client": AddClientCommand.run
    case "clients": ClientsCommand.run
    case "remove-client": RemoveClientCommand.run
    case "add-app": AddAppCommand.run
    case "apps": AppsCommand.run
    case "show-app": ShowAppCommand.run
    case "remove-app": RemoveAppCommand.run
    case "new-app-key": NewAppKeyCommand.run
    case "grant": GrantCommands.grant
    case "deny": GrantCommands.deny
    case "revoke": GrantCommands.revoke
    case "request-access": RequestAccessCommand.run
    case "asks": AsksCommand.run
    case "access": AccessCommand.run
    case "token": TokenCommand.run
    case "explain": ExplainCommand.run
    case "history": HistoryCommand.run
    case "verify": VerifyCommand.run
    case "checkpoint": CheckpointCommand.run
    case "prove": ProveCommand.run
    case "change-passphrase": ChangePassphraseCommand.run
    case "keys": KeysCommand.run
    case "add-key": AddKeyCommand.run
    case "remove-key": RemoveKeyCommand.run
    case "rotate-key": RotateKeyCommand.run
    case "backup": BackupCommand.run
    case "restore": RestoreCommand.run
    case "doctor": DoctorCommand.run
    case "reset-anchor": ResetAnchorCommand.run
    case "providers": ProvidersCommand.run
    case "show-provider": ShowProviderCommand.run
    case "add-provider": AddProviderCommand.run
    case "check-provider": CheckProviderCommand.run
    case "status": StatusCommand.run
    case "lock": LockCommand.run
    case "unlock": UnlockCommand.run
    case "completions": CompletionsCommand.run
    case "help": HelpCommand.run
    case "manual": ManualCommand.run
    case "version": VersionCommand.run
    default: nil
    }
  }
}
