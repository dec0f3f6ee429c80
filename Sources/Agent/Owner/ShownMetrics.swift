internal import AccountVault
internal import Accounts
internal import Command
internal import Faults
internal import FileSystem
internal import Listener
internal import Sodium
internal import Synchronization
internal import Time

extension OwnerService {
  /// `GET /v1/metrics`: what was counted and how it stands, without a name of anybody.
  func metrics() -> SocketServer.Reply {
    var text = MetricsText()
    addState(&text)
    addCounts(&text)
    addVault(&text)
    addProcess(&text)
    var bytes = Array(text.text.utf8)
    return SocketServer.Reply(
      200,
      headers: [("Content-Type", MetricsText.contentType), ("Cache-Control", "no-store")],
      body: .bytes(SharedSecret(SecretBytes(wiping: &bytes))))
  }

  private func addState(_ text: inout MetricsText) {
    text.add(
      "vault_agent_info", .gauge, "The agent's version.", [(["version": Release.version], 1)])
    text.add(
      "vault_agent_unlocked", .gauge, "1 while the vault is unlocked.",
      .init(core.keeper.standing.locked == nil))
    text.add(
      "vault_agent_memory_locked", .gauge, "1 where no key can reach the swap device.",
      .init(SecureMemory.isLocked))
    if let time = core.keeper.locksAt {
      text.add(
        "vault_agent_lock_timestamp_seconds", .gauge, "When the vault locks by itself.",
        .init(time.seconds))
    }
    if let time = core.facts.nextRenewal.withLock({ $0 })() {
      text.add(
        "vault_agent_next_renewal_timestamp_seconds", .gauge,
        "When something is to be renewed or revoked next.", .init(time.seconds))
    }
    let connections = core.facts.connections.withLock { $0 }
    text.add(
      "vault_agent_connections", .gauge, "Connections that are open.",
      [Metrics.Door.owner, .apps].map { door in
        let count = (connections[door] ?? []).reduce(0) { $0 + $1() }
        return (["socket": door.rawValue], .init(count))
      })
  }

  private func addCounts(_ text: inout MetricsText) {
    let all = core.metrics.all
    var requests: [(path: String, status: Int, door: Metrics.Door, count: UInt64)] = []
    for case (.request(let door, let path, let status), let count) in all {
      requests.append((path, status, door, count))
    }
    requests.sort {
      ($0.door.rawValue, $0.path, $0.status) < ($1.door.rawValue, $1.path, $1.status)
    }
    text.add(
      "vault_agent_requests_total", .counter, "Requests that were answered.",
      requests.map {
        (
          ["socket": $0.door.rawValue, "path": $0.path, "status": "\($0.status)"],
          .init($0.count)
        )
      })
    func add(
      _ name: String, _ help: String, _ values: [(MetricsText.Labels, Metrics.Counter)]
    ) {
      text.add(name, .counter, help, values.map { ($0.0, .init(all[$0.1] ?? 0)) })
    }
    add(
      "vault_agent_connections_total", "Connections that came.",
      [Metrics.Door.owner, .apps].flatMap { door in
        [true, false].map {
          (
            ["socket": door.rawValue, "admitted": $0 ? "yes" : "no"],
            .connection(door, isAdmitted: $0)
          )
        }
      })
    add(
      "vault_agent_hand_outs_total", "What apps were given.",
      Metrics.HandOut.allCases.map { (["kind": $0.rawValue], .handOut($0)) })
    add(
      "vault_agent_refusals_total", "What apps were refused, by the error's code.",
      VaultError.Code.allCases.map { (["code": $0.rawValue], .refusal($0)) })
    add(
      "vault_agent_renewals_total", "Renewals of the agent's own engine that ended.",
      Renewal.Outcome.allCases.map { (["outcome": $0.rawValue], .renewal($0)) })
    add(
      "vault_agent_revocations_total", "Revocations that were due.",
      [RevocationOutcome.State.sent, .later, .givenUp, .superseded].map {
        (["state": $0.rawValue], .revocation($0))
      })
    add("vault_agent_hook_failures_total", "Hooks that failed.", [([:], .hookFailure)])
    add(
      "vault_agent_renewal_failures_total", "Errors of the engine that concern no provider.",
      [([:], .engineFailure)])
  }

  /// What the vault holds; left out while it is locked, and where it cannot be read.
  private func addVault(_ text: inout MetricsText) {
    guard let pool = core.keeper.poolUnused else { return }
    do throws(VaultError) {
      let (entries, states) = try core.facts.census.count(in: pool, at: core.keeper.clock)
      text.add(
        "vault_agent_ledger_entries_total", .counter, "Entries of the ledger.", .init(entries))
      text.add(
        "vault_agent_credentials", .gauge, "Credentials by their state.",
        CredentialState.allCases.filter { $0 != .absent }.map {
          (["state": $0.rawValue], .init(states[$0] ?? 0))
        })
    } catch {
      core.keeper.meet(error)
      core.log.warning("the vault was not counted", ["code": error.code.rawValue])
    }
  }

  private func addProcess(_ text: inout MetricsText) {
    guard let usage = ProcessUsage.current else { return }
    text.add(
      "process_cpu_seconds_total", .counter, "Time on processors, in seconds.",
      .init(hundredths: usage.processorHundredths))
    text.add(
      "process_resident_memory_bytes", .gauge, "Memory in use.", .init(usage.residentBytes))
    text.add(
      "process_virtual_memory_bytes", .gauge, "Addresses in use.", .init(usage.virtualBytes))
    text.add("process_open_fds", .gauge, "Open descriptors.", .init(usage.descriptors))
    text.add(
      "process_max_fds", .gauge, "Descriptors that may be open.", .init(usage.descriptorLimit))
    text.add(
      "process_start_time_seconds", .gauge, "When the process started.",
      .init(core.facts.started.seconds))
  }
}
