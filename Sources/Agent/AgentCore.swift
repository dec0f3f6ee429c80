package import AccountVault

/// What every answer of the agent is made with.
package struct AgentCore: Sendable {
  package let keeper: Keeper
  package let network: Network
  package let log: Log
  package let metrics: Metrics
  package let facts: AgentFacts
  /// Whether the vault's key is lent to nobody (`--keep-key`).
  package var keepsKey = false

  package init(
    keeper: Keeper, network: Network, log: Log, metrics: Metrics = Metrics(),
    facts: AgentFacts = AgentFacts()
  ) {
    self.keeper = keeper
    self.network = network
    self.log = log
    self.metrics = metrics
    self.facts = facts
  }
}
