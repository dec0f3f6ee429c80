public import Accounts
public import Faults
import FileSystem
import Store

extension Session {
  /// Renews a credential: once, whoever asks and in however many processes (DESIGN section 6).
  ///
  /// A process that comes second waits for the first and takes its result. The new credential is
  /// committed whole before this returns it; a failure leaves the old one as it was. What the provider
  /// answered is in the ledger.
  ///
  /// - Parameters:
  ///   - clientID: The client that the credential was issued to.
  ///   - cause: Who wants it, and so which waits hold.
  ///   - refused: With ``RenewalCause/expired(_:)``, the generation of the token that was refused: a
  ///     refusal of an older token says nothing of the newer one.
  /// - Returns: What came of it. ``Renewal/generation`` tells whether the credential is another than
  ///   the caller had.
  /// - Throws: ``VaultError``: `notFound`, `signIn` where there is no credential; `tryAgain` with
  ///   reason `busy` where another process does not come to an end; `io`, where the answer could not
  ///   be kept (nothing is sent on a full disk).
  public func renew(
    _ account: Account, clientID: String, over network: Network, _ cause: RenewalCause,
    refused: Int64? = nil
  ) async throws(VaultError) -> Renewal {
    var request = RenewalRequest(
      account: account.id, clientID: clientID, cause: cause, refused: refused)
    return try await renew(&request, over: network)
  }

  func renew(_ request: inout RenewalRequest, over network: Network)
    async throws(VaultError) -> Renewal
  {
    guard !options.isLooking else {
      throw VaultError(
        .usage, "this session was opened to look only, and renews nothing",
        hint: "unlock the vault without looking")
    }
    let key = Records(store).credentialKey(request.account, client: request.clientID)
    let account = request.account
    let client = request.clientID
    request.seen = try store.read { () throws(VaultError) in
      try Records(store).credential(account, client: client)?.0.generation
    }
    let lock = try await RenewalLock.wait(for: key, of: store, network)
    defer { lock.hold() }
    let asked = request
    StopPoint.reach("locked")
    let begun = try store.write { () throws(VaultError) in
      let begun = try begin(asked, over: network)
      StopPoint.reach("intent-uncommitted")
      return begun
    }
    StopPoint.reach("intent-committed")
    let flight: RenewalFlight
    switch begun {
    case .done(let renewal): return renewal
    case .flight(let begun): flight = begun
    }
    let answer = await network.send(flight)
    StopPoint.reach("answered")
    let renewal = try await commit(network) { () throws(VaultError) in
      let renewal = try finish(flight, answer, over: network)
      StopPoint.reach("outcome-uncommitted")
      return renewal
    }
    StopPoint.reach("outcome-committed")
    try store.publishHead()
    return renewal
  }

  /// Commits answers, and tries again for a while where the disk or another writer is in the way: the
  /// tokens are nowhere but in this process's memory.
  func commit<R>(
    _ network: Network, _ body: () throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    var pause: Int64 = 1
    while true {
      do throws(VaultError) {
        return try store.write(body)
      } catch {
        let isPassing = error.code == .io || error.reason == .busy
        // Waited for even where the task is cancelled: what is given up here is lost.
        guard isPassing, pause <= 64 else { throw error }
        if await !network.wait(seconds: pause), pause > 8 { throw error }
        pause *= 2
      }
    }
  }
}

extension Session {
  /// Writes a renewal's intent and sends nothing: what a process leaves behind that dies there.
  package func leaveOpen(
    _ account: Account, clientID: String, over network: Network
  ) throws(VaultError) {
    let request = RenewalRequest(account: account.id, clientID: clientID, cause: .owner)
    _ = try store.write { () throws(VaultError) in try begin(request, over: network) }
  }
}
