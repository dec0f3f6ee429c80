internal import AccountVault
internal import Accounts
internal import Faults
internal import Synchronization

/// The requests that are sent for apps and are under way, which may take long: each ends, at most some
/// seconds late, where what allowed it has ended.
///
/// They are looked at every second while there are any, by one task, whichever process changed the vault
/// and where a grant's time ran out too. While the vault is locked nothing can be looked at.
final class Transfers: Sendable {
  /// One of them.
  final class Transfer: Sendable {
    private struct State {
      var account: AccountID?
      var task: Task<Void, Never>?
      var end: VaultError?
    }

    let app: App
    let permissions: [String]
    private let state = Mutex(State())

    fileprivate init(app: App, permissions: [String]) {
      self.app = app
      self.permissions = permissions
    }

    /// The account that it is sent for, once that is known. Until then the app's key alone is looked at.
    var account: AccountID? {
      get { state.withLock { $0.account } }
      set { state.withLock { $0.account = newValue } }
    }

    /// What ended it; nil where nothing did.
    var end: VaultError? { state.withLock { $0.end } }

    func run(_ task: Task<Void, Never>) {
      let isLate = state.withLock { state in
        state.task = task
        return state.end != nil
      }
      if isLate { task.cancel() }
    }

    fileprivate func end(by error: VaultError) {
      let task = state.withLock { state in
        state.end = state.end ?? error
        return state.task
      }
      task?.cancel()
    }
  }

  private struct State {
    var transfers: [ObjectIdentifier: Transfer] = [:]
    var isLooking = false
  }

  private static let pause: UInt64 = 1_000_000_000

  private let keeper: Keeper
  private let state = Mutex(State())

  init(_ keeper: Keeper) { self.keeper = keeper }

  func begin(app: App, permissions: [String]) -> Transfer {
    let transfer = Transfer(app: app, permissions: permissions)
    let isFirst = state.withLock { state in
      state.transfers[ObjectIdentifier(transfer)] = transfer
      defer { state.isLooking = true }
      return !state.isLooking
    }
    if isFirst { Task.detached { await self.look() } }
    return transfer
  }

  func forget(_ transfer: Transfer) {
    state.withLock { $0.transfers[ObjectIdentifier(transfer)] = nil }
  }

  private func look() async {
    while true {
      try? await Task.sleep(nanoseconds: Self.pause)
      let transfers = state.withLock { state in
        state.isLooking = !state.transfers.isEmpty
        return Array(state.transfers.values)
      }
      if transfers.isEmpty { return }
      // No use of the vault: it locks although they go on.
      guard let pool = keeper.poolUnused else { continue }
      do throws(VaultError) {
        try pool.withSession { (session) throws(VaultError) in
          for transfer in transfers { try look(at: transfer, session) }
        }
      } catch {
        keeper.meet(error)
      }
    }
  }

  private func look(at transfer: Transfer, _ session: borrowing Session) throws(VaultError) {
    do throws(VaultError) {
      try session.checkUse(
        by: transfer.app, of: transfer.account, permissions: transfer.permissions)
    } catch {
      switch error.code {
      case .denied, .revoked, .neverAsked, .notFound, .signIn, .wrongKey:
        transfer.end(by: error.told(to: .app, app: transfer.app.id, transfer.permissions))
      default: throw error
      }
    }
  }
}
