import AccountVault
import AccountVaultNetwork
import Command
import Faults
import Time

/// `vault sign-in`
enum SignInCommand {
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    var request = SignInRequest(.account(context.argument(0)))
    request.client = context.arguments.text("client")
    request.app = context.arguments.text("app")
    request.permissions = try context.list("perms") ?? []
    request.way = SignInWay.allCases.first { context.arguments.has($0.rawValue) }
    request.registers = context.arguments.has("register")
    if let text = context.arguments.text("timeout") {
      guard let seconds = DurationText.parse(text),
        (1...SignInRequest.longest).contains(seconds)
      else { throw context.usage("--timeout takes 1s to 5m") }
      request.seconds = seconds
    }
    try await signIn(request, context)
    return .ok
  }
}

/// `vault add-account --sign-in`
enum AddAccountBySignIn {
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    var new = NewAccount(type: try context.need("type"))
    new.username = context.arguments.text("username")
    new.userID = context.arguments.text("user-id")
    new.description = context.arguments.text("description")
    new.replaces = context.arguments.has("replace")
    var request = SignInRequest(.new(new))
    request.client = context.arguments.text("client")
    request.permissions = try context.list("perms") ?? []
    request.way = context.arguments.text("sign-in").flatMap { SignInWay(rawValue: $0) }
    request.registers = context.arguments.has("register")
    try await signIn(request, context)
    return .ok
  }
}

/// Signs in and shows the account as it is then.
private func signIn(
  _ request: SignInRequest, _ context: Context
) async throws(CommandFailure) {
  let network = Network.system(version: Release.version)
  let place = SignInPlace.terminal(context, network)
  var notes: [String] = []
  // A handler cannot end a task, so the signals are remembered and looked at.
  Interrupts.hold()
  defer { Interrupts.release() }
  let standing = try await context.withSession { (session) async throws(VaultError) in
    let outcome = try await session.signIn(request, over: network, at: place)
    notes = outcome.notes
    if !outcome.declined.isEmpty {
      notes.append("not given: \(outcome.declined.joined(separator: ", "))")
    }
    return try session.standing(of: outcome.account)
  }
  for note in notes { context.terminal.note(EscapedText.of(note)) }
  try AccountObjects.answer(standing, context)
}
