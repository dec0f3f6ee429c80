import Accounts
import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium
import Time

/// All that a sign-in needs, decided before anything is sent.
struct SignInPlan: Sendable {
  let provider: Provider
  let server: SignInServer
  let client: RegisteredClient
  /// As they are sent, those of every sign-in among them; empty where the provider decides.
  let scopes: [String]
  /// With OAuth 1.0a, `read` or `write` where less is wanted than the client is registered for.
  let accessType: String?
  let way: SignInWay
  let accountLabel: String?
  /// How long the person has.
  let seconds: Int64
  /// The same as a moment: nanoseconds of `CLOCK_BOOTTIME`, which a clock that is set does not move
  /// and a machine that sleeps does not stop.
  let deadline: Int64
}

/// The provider's answer with the token, unread.
struct SignInReply: Sendable {
  let sentAt: Timestamp
  let body: SharedSecret
  /// The key that the token is bound to, where it is.
  var proof: SignInProof?
}

/// The key pair that a sign-in makes for its tokens (RFC 9449): one for each credential, so that two
/// accounts cannot be told to be one person's.
struct SignInProof: Sendable {
  let scalar: SharedSecret
  let key: DPoP.Key
}

/// One sign-in at a provider: from the plan to the token response, with nothing written.
struct SignInFlow: Sendable {
  let network: Network
  let place: SignInPlace
  let plan: SignInPlan

  var provider: Provider { plan.provider }

  /// - Throws: ``VaultError``: the person's no, the provider's refusal, or that the time or the task
  ///   ended before.
  func run() async throws(VaultError) -> SignInReply {
    do throws(SignInFailure) {
      switch (provider.protocol, plan.way) {
      case (.oauth2, .browser), (.oauth2, .pin):
        return await lengthened(try await authorizationCode())
      case (.oauth2, .device): return try await device()
      case (.oauth1, _): return try await threeLegged()
      }
    } catch {
      switch error {
      case .vault(let error): throw error
      case .unmade(let error): throw VaultError(unmade: error, provider: provider)
      }
    }
  }

  /// The key for this sign-in's tokens, where the provider binds them.
  func newProof() throws(OAuthError) -> SignInProof? {
    guard provider.dpop == .required else { return nil }
    let scalar = try network.signatures.newProofKey()
    let key = try network.signatures.proofKey(scalar)
    return SignInProof(scalar: SharedSecret(scalar), key: key)
  }

  func client(_ time: Timestamp) throws(OAuthError) -> OAuth2Client {
    try network.oauth2(
      plan.client, provider, audience: plan.server.issuer ?? plan.server.endpoints[.token]?.text,
      time: time)
  }

  func prompt(
    _ address: String, complete: String? = nil, userCode: String? = nil, port: Int? = nil,
    seconds: Int64? = nil
  ) -> SignInPrompt {
    SignInPrompt(
      way: plan.way, providerName: provider.name,
      clientName: plan.client.client.name ?? plan.client.client.clientID,
      accountLabel: plan.accountLabel, scopes: plan.scopes, address: address,
      completeAddress: complete, userCode: userCode, port: port, seconds: seconds ?? plan.seconds,
      offersDevice: provider.protocol == .oauth2 && provider.endpoint(.device) != nil)
  }

  /// The body of a success.
  func body(
    of reply: EndpointReply, at what: String, proof: SignInProof? = nil
  ) throws(SignInFailure) -> SignInReply {
    guard let response = reply.response, reply.refusal == nil else {
      throw .vault(
        VaultError(
          signIn: reply.refusal ?? .noReply, at: what, provider, response: reply.response,
          failure: reply.failure))
    }
    return SignInReply(sentAt: reply.sentAt, body: response.body, proof: proof)
  }

  /// Waits for something that the person does, until the deadline.
  func person<T: Sendable>(
    until deadline: Int64? = nil, _ wait: @escaping @Sendable () async -> T?
  ) async throws(SignInFailure) -> T {
    let deadline = deadline ?? plan.deadline
    let network = network
    let interruption = place.interruption
    let first = await withTaskGroup(of: FirstOf<T>.self) { group in
      group.addTask { .answer(await wait()) }
      group.addTask { .end(await network.wait(deadline)) }
      if let interruption {
        group.addTask { await interruption() ? .interrupted : .end(false) }
      }
      // There are tasks, so there is a first.
      let first = await group.next() ?? .end(false)
      group.cancelAll()
      // An answer that came in the moment in which the time ended is one.
      for await later in group {
        if case .answer(let late) = later, late != nil { return later }
      }
      return first
    }
    switch first {
    case .answer(let value?): return value
    case .end(true): throw .vault(.signInTooLate(plan.seconds))
    case .interrupted: throw .vault(.signInInterrupted)
    case .answer(nil), .end(false):
      if !Task.isCancelled, network.clock.sinceBoot() >= deadline {
        throw .vault(.signInTooLate(plan.seconds))
      }
      throw .vault(.signInInterrupted)
    }
  }
}

/// The person's answer, their wish to end it, or the end of the wait: true where its time came.
private enum FirstOf<T: Sendable>: Sendable { case answer(T?), interrupted, end(Bool) }

/// What ends a sign-in, before it is told to the person.
enum SignInFailure: Error {
  case vault(VaultError)
  /// A request that could not be made, or an answer that breaks its protocol.
  case unmade(OAuthError)
}

/// Runs what throws of the protocol where a sign-in's own failures are thrown.
func oauth<R: ~Copyable>(_ body: () throws(OAuthError) -> R) throws(SignInFailure) -> R {
  do throws(OAuthError) { return try body() } catch { throw .unmade(error) }
}
