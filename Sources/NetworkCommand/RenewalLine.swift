package import AccountVault
import Accounts
package import Command
import Time

/// One renewal as `vault renew` prints it.
package enum RenewalLine {
  static let columns = [
    Column("ACCOUNT", "label"), Column("CLIENT", "client_id"), Column("OUTCOME", "outcome"),
    Column("CLASS", "class"), Column("GENERATION", "generation"), Column("EXPIRES", "expires_at"),
    Column("NEXT", "next_attempt_at"), Column("REASON", "reason"),
  ]

  /// - Parameter label: For people: with the account's name in the place of its id.
  package static func object(_ renewal: Renewal, label: Bool) -> JSONObject {
    object(
      renewal.account, label: label, renewal.clientID, renewal.outcome.rawValue,
      renewal.errorClass, renewal.reason, renewal.generation, renewal.expiry,
      renewal.nextAttemptAt)
  }

  static func object(_ planned: PlannedRenewal, label: Bool) -> JSONObject {
    object(
      planned.account, label: label, planned.credential.clientID, planned.outcome?.rawValue,
      planned.errorClass, planned.reason, planned.credential.generation,
      planned.credential.expiry, planned.nextAttemptAt)
  }

  private static func object(
    _ account: Account, label: Bool, _ client: String, _ outcome: String?, _ errorClass: String?,
    _ reason: String?, _ generation: Int64, _ expiry: Expiry, _ next: Timestamp?
  ) -> JSONObject {
    var object = JSONObject()
    if label { object.add("label", account.label) }
    object.add("account", account.id.text)
    object.add("client_id", client.isEmpty ? nil : client)
    object.add("outcome", outcome)
    object.add("class", errorClass)
    object.add("reason", reason)
    object.add("generation", generation)
    object.add("expires_at", expiry.time)
    object.add("next_attempt_at", next)
    return object
  }

  /// What an outcome is among the exit codes.
  static func status(_ outcome: Renewal.Outcome?, _ errorClass: String?) -> ExitStatus {
    switch outcome {
    case .renewed, .notDue, nil: .ok
    case .rejected: .signIn
    case .failed: errorClass == "config" ? .config : .tryAgain
    }
  }

  /// The hook that is told of it.
  package static func hook(_ renewal: Renewal) -> String? {
    switch renewal.outcome {
    case .renewed: renewal.wasSent ? "renewed" : nil
    case .rejected: "rejected"
    case .failed: "failed"
    case .notDue: renewal.needsPersonBy == nil ? nil : "expiring"
    }
  }
}
