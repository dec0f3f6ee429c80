public import Accounts
public import Faults
import HTTPTypes
import Providers

/// Who lends sessions of one vault, for as long as something is done with them.
public protocol SessionLender: Sendable {
  /// Lends a session; it is the body's until that returns.
  ///
  /// - Throws: ``VaultError``: what `body` throws, and what stands against lending one.
  func withSession<R: ~Copyable>(
    _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(VaultError) -> R
}

extension SessionPool: SessionLender {}

extension SessionLender {
  /// Signs a request for an account and sends it, as
  /// ``Session/send(_:app:account:permissions:strictly:seenBy:over:to:)`` does, and holds no
  /// session while it is under way: many long transfers need few.
  ///
  /// A reply that says nothing of the credential needs no session any more.
  ///
  /// - Parameter begins: Told the account before each try.
  /// - Throws: ``VaultError``, as there; what lending a session throws.
  public func send(
    _ request: SignedRequest, app: String, account: String? = nil, permissions: [String] = [],
    strictly: Bool = false, seenBy view: Session.View = .owner, over network: Network,
    to receiver: any ResponseReceiver, begins: @Sendable (AccountID) -> Void = { _ in }
  ) async throws(VaultError) -> SignedResponse {
    var tries = RequestTries(waitsAtMost: request.limits.waitSeconds)
    while true {
      var begun = tries
      let start = try await withSession { (session) async throws(VaultError) in
        try await session.start(
          request, app: app, account: account, permissions: permissions, strictly: strictly,
          seenBy: view, &begun, over: network)
      }
      tries = begun
      let attempt: RequestAttempt
      switch start {
      case .again: continue
      case .wait(let seconds):
        try await network.pause(seconds)
        continue
      case .send(let allowed): attempt = allowed
      }
      begins(attempt.account.id)
      let reply = await attempt.send(over: network, to: receiver)
      let step: RequestStep
      if let done = Session.settled(reply, of: attempt) {
        step = .done(done)
      } else {
        var settled = tries
        step = try await withSession { (session) async throws(VaultError) in
          try await session.settle(reply, of: attempt, &settled, over: network)
        }
        tries = settled
      }
      switch step {
      case .again: try request.checkUnspent(for: attempt.account)
      case .wait(let seconds):
        try request.checkUnspent(for: attempt.account)
        try await network.pause(seconds)
      case .done(let answer): return SignedResponse(answer, of: attempt, body: [])
      }
    }
  }
}

extension Network {
  /// - Throws: ``VaultError``: `tryAgain` where the task was cancelled.
  func pause(_ seconds: Int64) async throws(VaultError) {
    guard await wait(seconds: seconds) else {
      throw VaultError(.tryAgain, "the request was cancelled while it waited")
    }
  }
}

extension SignedResponse {
  init(_ answer: RequestAnswer, of attempt: RequestAttempt, body: [UInt8]) {
    self.init(
      status: answer.response.status, headers: answer.response.headers, body: body,
      account: attempt.account, errorClass: answer.refusal?.errorClass, error: answer.error,
      notes: answer.notes)
  }
}
