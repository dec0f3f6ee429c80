package import AccountVault

/// What every answer of the agent is made with.
package struct AgentCore: Sendable {
  package let keeper: Keeper
  package let network: Network
  package let log: Log

  package init(keeper: Keeper, network: Network, log: Log) {
    self.keeper = keeper
    self.network = network
    self.log = log
  }
}
