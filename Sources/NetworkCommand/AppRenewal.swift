import AccountVault
import AccountVaultNetwork
import Accounts
import Command
import Faults

/// Renewing for an app: `vault token --renew`, and `renew-for-app`, which `vault token` starts where
/// the token has expired.
enum AppRenewal {
  /// `renew-for-app`: renews what the app may use.
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let use = try Use(context)
    let renewal = try await context.withSession { (session) async throws(VaultError) in
      try await renew(session, use)
    }
    if let failure = failure(of: renewal) { throw failure }
    return .ok
  }

  /// `token --renew`: renews before the end, then hands out.
  static func token(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let use = try Use(context)
    var renewal: Renewal?
    let token = try await context.withSession { (session) async throws(VaultError) in
      let done = try await renew(session, use)
      renewal = done
      // Where it could not be renewed, the token itself says whether it is still good.
      return try session.token(
        app: use.app, account: done.account.id.text, permissions: use.permissions, strictly: true)
    }
    if let renewal, let failure = failure(of: renewal) {
      context.terminal.warning(failure.message)
    }
    return try TokenCommand.show(token, context)
  }

  private struct Use: Sendable {
    let app: String
    let account: String?
    let permissions: [String]

    init(_ context: Context) throws(CommandFailure) {
      app = try context.need("app")
      account = context.arguments.text("account")
      permissions = try context.list("perms") ?? []
    }
  }

  private static func renew(_ session: borrowing Session, _ use: Use) async throws(VaultError)
    -> Renewal
  {
    let (account, credential) = try session.grantedCredential(
      app: use.app, account: use.account, permissions: use.permissions)
    return try await session.renew(
      account, clientID: credential.clientID, over: .system(version: Release.version), .request)
  }

  private static func failure(of renewal: Renewal) -> CommandFailure? {
    let status = RenewalLine.status(renewal.outcome, renewal.errorClass)
    guard status != .ok else { return nil }
    var text = "\(renewal.account.label): not renewed"
    if let reason = renewal.reason { text += ": \(reason)" }
    if let next = renewal.nextAttemptAt { text += "; next try at \(next)" }
    return CommandFailure(status, text, hint: "vault explain \(renewal.account.id.text)")
  }
}
