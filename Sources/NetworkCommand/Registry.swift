package import Command

/// What a command that needs the network does; else as ``Command/CommandFunction``.
package typealias NetworkCommandFunction =
  @Sendable (inout Context) async throws(CommandFailure) -> ExitStatus

/// The functions of the commands that need the network, by name: always, or with one of the options
/// that the table marks so. ``Command/CommandTable`` has the words.
enum Registry {
  static func function(named name: String) -> NetworkCommandFunction? {
    switch name {
    case "sign-in": SignInCommand.run
    case "add-account": AddAccountBySignIn.run
    case "renew": RenewCommand.run
    case "renew-for-app": AppRenewal.run
    case "token": AppRenewal.token
    case "send-revocations": SendRevocationsCommand.run
    case "request": RequestCommand.run
    default: nil
    }
  }
}
