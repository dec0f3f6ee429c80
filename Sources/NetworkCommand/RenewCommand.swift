import AccountVault
import AccountVaultNetwork
import Accounts
import Command
import Faults
import Time

/// `vault renew`
enum RenewCommand {
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let within = try context.time("within", .fromNow).map { $0 - context.now }
    let names = context.arguments.arguments
    let isWatching = context.arguments.has("watch")
    let isDry = context.arguments.has("dry-run")
    let all = context.arguments.has("all")
    var network = Network.system(version: Release.version)
    if isWatching {
      EndSignal.note()
      let wait = network.wait
      let clock = network.clock
      network.wait = { until in
        // In short pieces, so that a signal is met soon.
        while !EndSignal.wasAsked {
          let now = clock.sinceBoot()
          if now >= until { return true }
          guard await wait(min(until, now + 100_000_000)) else { return false }
        }
        return false
      }
    }
    let reporter = Reporter(context)
    let sender = network
    try await context.withSession { (session) async throws(VaultError) in
      var scope = RenewalScope()
      scope.all = all
      scope.within = within ?? 0
      for name in names {
        let account = try session.account(name)
        if account.clients.isEmpty {
          throw VaultError(
            .signIn, "account \(account.label) has no credential",
            hint: "vault show-account \(account.id.text)")
        }
        if !scope.accounts.contains(where: { $0.id == account.id }) {
          scope.accounts.append(account)
        }
      }
      if isDry {
        try session.plannedRenewals(scope) { (planned) throws(VaultError) in
          reporter.show(planned)
        }
      } else if isWatching {
        let summary = try await session.renewForever(
          over: sender, revocations: { reporter.show($0) }
        ) { renewal, next in
          if let renewal { reporter.show(renewal) } else { reporter.endRound(next) }
        }
        reporter.end(summary)
      } else {
        try await session.renewDue(scope, over: sender) { reporter.show($0) }
        // Who names accounts asks for those alone.
        if names.isEmpty { reporter.show(try await session.sendRevocations(over: sender)) }
      }
    }
    return try reporter.finish(isWatching: isWatching)
  }

  /// Prints outcomes, and tells the hooks of them once no answer waits to be written.
  private final class Reporter {
    private let invocation: Invocation
    private let terminal: Terminal
    private var listing: Listing
    private var failure: CommandFailure?
    private var status = ExitStatus.ok
    private var revocations = RevocationReport()
    private var told: [(hook: String, line: String)] = []
    private var renewed = 0
    private var refused = 0

    init(_ context: Context) {
      invocation = context.invocation
      terminal = context.terminal
      listing = Listing(terminal, columns: RenewalLine.columns)
    }

    func show(_ renewal: Renewal) {
      add(RenewalLine.object(renewal, label: !terminal.printsJSON))
      status = status.combined(with: RenewalLine.status(renewal.outcome, renewal.errorClass))
      if renewal.outcome == .renewed { renewed += 1 }
      if renewal.outcome == .failed || renewal.outcome == .rejected { refused += 1 }
      if let hook = RenewalLine.hook(renewal) {
        told.append((hook, RenewalLine.object(renewal, label: false).line))
      }
    }

    func show(_ outcomes: [RevocationOutcome]) {
      revocations.add(outcomes, to: terminal)
    }

    func show(_ planned: PlannedRenewal) {
      add(RenewalLine.object(planned, label: !terminal.printsJSON))
    }

    private func add(_ object: JSONObject) {
      guard failure == nil else { return }
      do throws(CommandFailure) { try listing.add(object) } catch { failure = error }
    }

    /// After a round of `--watch`: what was held back is written, the hooks are run.
    func endRound(_ next: Timestamp?) {
      runHooks()
      do throws(CommandFailure) {
        if !terminal.printsJSON {
          try listing.finish()
          listing = Listing(terminal, columns: RenewalLine.columns)
        }
        try terminal.flush()
      } catch {
        failure = failure ?? error
      }
      terminal.progress(
        "\(renewed) renewed, \(refused) not; next "
          + (next.map { "at \($0)" } ?? "when there is something"))
    }

    func end(_ summary: RenewalSummary) {
      terminal.hideProgress()
      terminal.note(
        "\(summary.renewed) renewed, \(summary.rejected) rejected, \(summary.failed) failed")
    }

    private func runHooks() {
      for (name, line) in told {
        do throws(CommandFailure) {
          guard let hook = try Hook(name, invocation) else { continue }
          if let trouble = hook.run(line, invocation) { terminal.warning(trouble) }
        } catch {
          terminal.warning(error.message)
        }
      }
      told = []
    }

    /// - Parameter isWatching: A signal is the good end of it, whatever was tried meanwhile.
    func finish(isWatching: Bool) throws(CommandFailure) -> ExitStatus {
      try listing.finish()
      try terminal.flush()
      runHooks()
      if let failure { throw failure }
      return isWatching ? .ok : status.combined(with: revocations.status)
    }
  }
}
