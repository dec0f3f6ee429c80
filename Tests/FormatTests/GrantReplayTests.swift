import TestSupport
import Testing

@testable import AccountVault
@testable import Accounts

/// What only somebody with the vault's key can write, so no edit of the file makes it.
@Suite struct `A grant in the vault's table` {
  private func change(
    _ written: WrittenVault, _ change: (GrantSet) -> GrantSet
  ) throws -> VaultError? {
    let session = try written.open()
    let account = try session.account("lestat.ali")
    try session.store.write { () throws(VaultError) in
      let records = Records(session.store)
      let set = try records.grants(app: "123", account: account.id)
      let old = set ?? GrantSet(app: "123", account: account.id)
      try records.put(change(old), day: 20_000)
    }
    do throws(VaultError) {
      _ = try session.verify()
      return nil
    } catch {
      return error
    }
  }

  private let decision = GrantDecision(by: .person, at: Timestamp(seconds: 1_800_000_000), entry: 3)

  @Test func `that the ledger does not explain is found by verify`() throws {
    let written = try WrittenVault()
    _ = try written.create()
    let more = Permission("email", .read)
    let error = try change(written) { $0.granting([more], decision) }
    #expect(error?.reason == .unexplainedGrant)
    #expect(error?.message.contains("email") == true)
  }

  @Test func `that is not what its entry decided is found by verify`() throws {
    let written = try WrittenVault()
    _ = try written.create()
    let error = try change(written) {
      $0.denying([Permission("publish_actions", .write)], decision)
    }
    #expect(error?.reason == .unexplainedGrant)
  }

  @Test func `that is gone though the ledger decided it is found by verify`() throws {
    let written = try WrittenVault()
    _ = try written.create()
    let error = try change(written) { GrantSet(app: $0.app, account: $0.account) }
    #expect(error?.reason == .unexplainedGrant)
  }
}
