import AccountVault
import Faults
import FileSystem

/// `vault doctor`
enum DoctorCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let findings = Vault.examine(
      try context.vaultPath(), options: try context.unlockOptions(looking: true),
      allowNetworkFileSystem: context.arguments.has("network-fs"))
    var listing = Listing(
      context.terminal,
      columns: [
        Column("CHECK", "check"), Column("STATE", "state"), Column("DETAIL", "detail"),
        Column("HINT", "hint"),
      ])
    var worst: CommandFailure?
    for finding in findings {
      var object = JSONObject()
      object.add("check", finding.check)
      object.add("state", finding.state.rawValue)
      object.add("detail", finding.detail)
      object.add("hint", finding.hint)
      try listing.add(object)
      if finding.state == .error {
        let failure =
          finding.error.map { CommandFailure($0) }
          ?? CommandFailure(.failed, "\(finding.check): \(finding.detail)", hint: finding.hint)
        worst =
          worst.map { $0.status.combined(with: failure.status) == $0.status ? $0 : failure }
          ?? failure
      }
    }
    if let agent = AgentProgram.finding(context.invocation) { try listing.add(agent) }
    try listing.finish()
    if let worst { throw worst }
    return .ok
  }
}
