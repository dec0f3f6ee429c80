import AccountVault
import Faults
import Foundation
import TamperSupport

/// A life of a vault, each step told as acknowledged in the file `acks` once it is.
struct Scenario {
  private let sample: SampleVault
  private let acks: Int32

  init(_ sample: SampleVault) {
    self.sample = sample
    acks = Glibc.open(sample.directory + "/acks", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }

  /// Says that the ledger has so many entries, and whether its head is outside too.
  private func acknowledge(_ session: borrowing Session, flushed: Bool) throws(VaultError) {
    let line = "\(try session.entryCount()) \(flushed ? 1 : 0)\n"
    _ = line.withCString { write(acks, $0, strlen($0)) }
  }

  func run() throws(VaultError) {
    try firstDay()
    for _ in 0..<4 { try laterDay() }
    let session = try sample.unlock()
    let cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    _ = try session.rotateKey(with: SampleVault.key(SampleVault.key), cost: cost)
    try acknowledge(session, flushed: false)
    try session.flush()
    try acknowledge(session, flushed: true)
    _ = try Probe.firstToken.read(session)
    try acknowledge(session, flushed: true)
  }

  private func firstDay() throws(VaultError) {
    let session = try sample.create()
    try acknowledge(session, flushed: true)
    try SampleVault.addLestat(session)
    try acknowledge(session, flushed: false)
    for number in 0..<12 {
      _ = try session.addAccount(
        NewAccount(type: "facebook", username: "user\(number)"),
        credential: .bearer(SampleVault.secret("EAA\(number)")))
      try acknowledge(session, flushed: false)
      if number % 3 == 0 {
        try session.flush()
        try acknowledge(session, flushed: true)
      }
    }
    _ = try session.grant(
      Decision(app: "123", permissions: ["publish_actions"], account: "lestat"))
    try acknowledge(session, flushed: false)
    for _ in 0..<6 {
      _ = try Probe.firstToken.read(session)
      try acknowledge(session, flushed: true)
    }
    var other = [UInt8](repeating: SampleVault.otherKey, count: 32)
    let added = try session.addKeyFile(Secret(wiping: &other))
    try acknowledge(session, flushed: false)
    // The log is copied into the file and cut.
    try session.removeKey(added.number)
    try acknowledge(session, flushed: false)
  }

  private func laterDay() throws(VaultError) {
    let session = try sample.unlock()
    _ = try session.revoke(Decision(app: "123", permissions: [], account: "lestat"))
    try acknowledge(session, flushed: false)
    _ = try session.grant(
      Decision(app: "123", permissions: ["publish_actions"], account: "lestat"))
    _ = try Probe.firstToken.read(session)
    try acknowledge(session, flushed: true)
  }
}
