import AccountVault
import AccountVaultNetwork
import Foundation
import HTTPTypes
import Sodium
import Synchronization
import TestSupport
import Testing
import Time

/// A clock that stands still until it is set.
final class SetClock: Sendable {
  private let seconds: Mutex<Int64>

  init(_ seconds: Int64 = 1_800_000_000) { self.seconds = Mutex(seconds) }

  func advance(_ by: Int64) { seconds.withLock { $0 += by } }

  var now: Timestamp { Timestamp(seconds: seconds.withLock { $0 }) }

  var clock: Clock {
    Clock(
      now: { Timestamp(seconds: self.seconds.withLock { $0 }) },
      sinceBoot: { self.seconds.withLock { $0 } * 1_000_000_000 })
  }
}

/// A place with a vault in it, opened by a key file.
struct Place {
  let directory: TemporaryDirectory
  let clock: SetClock

  init(_ clock: SetClock = SetClock()) throws {
    directory = try TemporaryDirectory()
    self.clock = clock
  }

  var path: String { directory("accounts.vault") }

  private var unlocking: Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = directory("state")
    options.clock = clock.clock
    return options
  }

  func create() throws -> Session {
    var options = Vault.CreationOptions()
    options.session = unlocking
    options.makesRecoveryCode = false
    options.cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    return try Vault.create(at: path, passphrase: nil, keyFile: .key(), options: options)
      .takeSession()
  }

  func open() throws -> Session {
    try Vault.open(at: path).unlock(with: .keyFile(.key()), options: unlocking)
  }
}

extension Secret {
  static func key() -> Secret {
    var bytes = [UInt8](repeating: 7, count: 32)
    return Secret(wiping: &bytes)
  }

  static func text(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }
}

extension SharedSecret {
  static func text(_ text: String) -> SharedSecret {
    var bytes = Array(text.utf8)
    return SharedSecret(SecretBytes(wiping: &bytes))
  }

  /// Only a test may do this.
  var shown: String {
    withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }
}

/// For what sends nothing: a request that reaches it is a failure of the test.
struct NoTransport: Transport {
  func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    Issue.record("\(request.method) was sent")
    throw HTTPFailure(.connect, "nothing is sent here", mayHaveBeenSent: false)
  }
}

extension Network {
  static func unconnected(_ clock: SetClock = SetClock()) -> Network {
    Network(
      transport: NoTransport(), signatures: .libcrypto, clock: clock.clock, wait: { _ in false },
      random: { $0.lowerBound })
  }
}
