public import Faults

extension SessionPool {
  /// Renews what is due for as long as it is iterated, and gives each outcome as it is committed.
  ///
  /// ```swift
  /// for try await renewal in pool.renewals(over: network) {
  ///   if renewal.outcome == .rejected { askToSignIn(renewal.account) }
  /// }
  /// ```
  ///
  /// Renewing does not wait for a slow reader: what was not read yet is kept in memory. Each iteration
  /// is an engine of its own; several of them, in whichever processes, share one flight for each
  /// credential (``Session/renew(_:clientID:over:_:refused:)``).
  ///
  /// - Parameters:
  ///   - network: How providers are reached.
  ///   - within: What becomes due in so many seconds is due.
  /// - Returns: A sequence that ends where its task is cancelled, once everything that had been sent is
  ///   written, and that throws what concerns no provider, such as a disk that is full. Outcomes with
  ///   nothing to tell (``Renewal/Outcome/notDue`` with nobody to be told of an end) are left out.
  public func renewals(over network: Network, within: Int64 = 0) -> Renewals {
    Renewals(pool: self, network: network, within: within)
  }
}

/// The outcomes of renewals, from ``SessionPool/renewals(over:within:)``.
public struct Renewals: AsyncSequence, Sendable {
  /// What came of a renewal.
  public typealias Element = Renewal
  /// What concerns no provider.
  public typealias Failure = VaultError

  let pool: SessionPool
  let network: Network
  let within: Int64

  /// Begins to renew when its first outcome is asked for.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(renewals: self) }

  /// Renews until it is let go, or its task is cancelled.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private typealias Outcomes = AsyncStream<Result<Renewal, VaultError>>

    private let renewals: Renewals
    private var running: (outcomes: Outcomes.Iterator, engine: Task<Void, Never>)?

    init(renewals: Renewals) { self.renewals = renewals }

    /// Waits for the next outcome; nil once the task is cancelled and nothing is under way any more.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(VaultError) -> Renewal? {
      var (outcomes, engine) = running ?? start()
      let outcome = await outcomes.next(isolation: actor)
      running = (outcomes, engine)
      switch outcome {
      case .some(let outcome): return try outcome.get()
      case .none:
        // It was told to stop by the end of the outcomes.
        await engine.value
        return nil
      }
    }

    private func start() -> (outcomes: Outcomes.Iterator, engine: Task<Void, Never>) {
      let (outcomes, continuation) = Outcomes.makeStream()
      let engine = Task { [renewals] in
        do throws(VaultError) {
          _ = try await renewals.pool.withSession { (session) async throws(VaultError) in
            try await session.renewForever(over: renewals.network, within: renewals.within) {
              (renewal, _) in
              guard let renewal, renewal.outcome != .notDue || renewal.needsPersonBy != nil
              else { return }
              continuation.yield(.success(renewal))
            }
          }
        } catch {
          continuation.yield(.failure(error))
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in engine.cancel() }
      return (outcomes.makeAsyncIterator(), engine)
    }
  }
}
