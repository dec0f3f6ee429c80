import AccountVault
import AccountVaultNetwork
import Command
import Faults
import Time

/// `vault request`: the body of the answer, and nothing else.
enum RequestCommand {
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let request = try SignedRequest(context)
    let app = try context.need("app")
    let account = context.arguments.text("account")
    let permissions = try context.list("perms") ?? []
    if context.arguments.has("dry-run") {
      let network = Network.system(version: Release.version)
      let prepared = try context.withSession { (session) throws(VaultError) in
        try session.prepared(
          request, app: app, account: account, permissions: permissions, over: network)
      }
      try context.terminal.line("\(prepared.method) \(prepared.url)")
      for (name, value) in prepared.headers { try context.terminal.line("\(name): \(value)") }
      if let body = prepared.body { try context.terminal.line("\n\(body)") }
      return .ok
    }
    let output = try RequestOutput(context)
    defer { output.discard() }
    // A handler cannot end a task, so the signals are remembered and looked at.
    Interrupts.hold()
    defer { Interrupts.release() }
    let network = Network.system(version: Release.version).interruptible
    // Each request of the command has an entry of its own.
    let result: Result<SignedResponse, VaultError> = try await context.withSession { session in
      do throws(VaultError) {
        return .success(
          try await session.send(
            request, app: app, account: account, permissions: permissions, strictly: true,
            over: network, to: output))
      } catch {
        return .failure(error)
      }
    }
    context.terminal.hideProgress()
    // The transfer that ended because nobody takes the body is no fault of the provider's.
    try output.check()
    switch result {
    case .failure(let error): throw CommandFailure(error)
    case .success(let response):
      try output.finish(isRefusal: response.error != nil)
      for note in response.notes { context.terminal.note(note) }
      if let error = response.error { throw CommandFailure(error) }
      return .ok
    }
  }
}
