import AccountVault
import Faults
import Foundation
import Sodium
import Synchronization
import TestSupport
import Testing
import Time

@testable import Agent

/// The hold on the vault, on clocks that the test sets.
@Suite struct `The keeper` {
  private final class Times: Sendable {
    let seconds = Mutex<Int64>(1000)

    func advance(_ by: Int64) { seconds.withLock { $0 += by } }

    var clock: Clock {
      Clock(
        now: { Timestamp(seconds: 1_800_000_000 + self.seconds.withLock { $0 }) },
        sinceBoot: { self.seconds.withLock { $0 } * 1_000_000_000 })
    }
  }

  private struct Place {
    let directory: TemporaryDirectory
    let times = Times()
    let keeper: Keeper

    init() throws {
      directory = try TemporaryDirectory()
      var options = Vault.UnlockOptions()
      options.clock = times.clock
      options.headDirectory = directory("heads")
      let path = directory("v.vault")
      var creation = Vault.CreationOptions()
      creation.session = options
      creation.makesRecoveryCode = false
      _ = try Vault.create(at: path, passphrase: nil, keyFile: Self.key(), options: creation)
      keeper = Keeper(path: path, options: options)
    }

    static func key(_ byte: UInt8 = 7) -> Secret {
      var bytes = [UInt8](repeating: byte, count: 32)
      return Secret(SecretBytes(wiping: &bytes))
    }

    func unlock(_ limits: Keeper.Limits = Keeper.Limits()) throws {
      try keeper.unlock(with: .keyFile(Self.key()), limits: limits)
    }
  }

  @Test func `ends what was begun in the moment of a lock`() async throws {
    let place = try Place()
    for ends in [true, false] {
      try place.unlock()
      let watch = LockWatch(place.keeper) { _ in ends }
      defer { watch.forget() }
      _ = try place.keeper.pool()
      // Here the vault is looked at, and the task not begun yet.
      place.keeper.lock(.owner)
      let task = Task { while !Task.isCancelled { await Task.yield() } }
      watch.end(task)
      #expect(task.isCancelled == ends)
      task.cancel()
      await task.value
    }
  }

  @Test func `locks after a while without use, which each use puts off`() throws {
    let place = try Place()
    try place.unlock(Keeper.Limits(idle: 600))
    place.times.advance(599)
    place.keeper.lockIfDue()
    _ = try place.keeper.pool()
    place.times.advance(599)
    place.keeper.lockIfDue()
    #expect(place.keeper.standing.locked == nil)
    #expect(place.keeper.locksAt == place.times.clock.now() + 1)
    place.times.advance(1)
    place.keeper.lockIfDue()
    #expect(place.keeper.standing.locked == .idle)
    #expect(throws: VaultError.self) { _ = try place.keeper.pool() }
  }

  @Test func `locks after a while in all, however it is used`() throws {
    let place = try Place()
    try place.unlock(Keeper.Limits(idle: 600, lifetime: 7200))
    for _ in 0..<14 {
      place.times.advance(500)
      place.keeper.lockIfDue()
      _ = try place.keeper.pool()
    }
    #expect(place.keeper.deadline?.reason == .lifetime)
    place.times.advance(200)
    place.keeper.lockIfDue()
    #expect(place.keeper.standing.locked == .lifetime)
  }

  @Test func `without limits never locks by itself`() throws {
    let place = try Place()
    try place.unlock()
    place.times.advance(10_000_000)
    place.keeper.lockIfDue()
    #expect(place.keeper.locksAt == nil)
    #expect(place.keeper.standing.locked == nil)
  }

  @Test func `is looked at without being used`() throws {
    let place = try Place()
    try place.unlock(Keeper.Limits(idle: 600))
    place.times.advance(599)
    #expect(place.keeper.poolUnused != nil)
    place.times.advance(1)
    place.keeper.lockIfDue()
    #expect(place.keeper.standing.locked == .idle)
    #expect(place.keeper.poolUnused == nil)
  }

  @Test func `tells those who follow it of each change in order, and once`() throws {
    let place = try Place()
    let told = Told()
    place.keeper.follow { pool, standing in
      told.all.withLock {
        $0.append("\(pool != nil) \(standing.locked?.rawValue ?? "none")")
      }
    }
    place.keeper.lock(.owner)
    try place.unlock()
    place.keeper.lock(.owner)
    place.keeper.lock(.signal)
    #expect(told.all.withLock { $0 } == ["true none", "false owner"])
    #expect(throws: VaultError.self) {
      try place.keeper.unlock(with: .keyFile(Place.key(8)))
    }
    #expect(place.keeper.standing.locked == .owner)
    try place.unlock()
    #expect(throws: VaultError.self) {
      try place.keeper.unlock(with: .keyFile(Place.key(8)))
    }
    #expect(place.keeper.standing.locked == nil)
  }

  private final class Told: Sendable {
    let all = Mutex<[String]>([])
  }
}
