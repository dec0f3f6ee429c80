import Accounts
import Faults
package import HTTPTypes
import Ledger
import OAuth
package import Providers
import Store
import Time

/// What follows from a reply.
package enum RequestStep: Sendable {
  /// Another try, signed anew.
  case again
  /// The same, so many seconds later.
  case wait(seconds: Int64)
  case done(RequestAnswer)
}

/// A reply that was handed out, and what it means.
package struct RequestAnswer: Sendable {
  package let response: HTTPResponse
  /// Nil for a success.
  package let refusal: Classification?
  /// The refusal as the command tells it.
  package let error: VaultError?
  package var notes: [String] = []
}

extension Session {
  /// Takes in what a reply says of the credential, and decides what follows.
  ///
  /// - Throws: ``VaultError`` where there is no reply.
  package func settle(
    _ reply: RequestReply, of attempt: RequestAttempt, _ tries: inout RequestTries,
    over network: Network
  ) async throws(VaultError) -> RequestStep {
    let answer: EndpointReply
    switch reply.reply {
    case .success(let reply): answer = reply
    case .failure(let error):
      if attempt.request.upload?.isSpent == true { throw .bodySpent(attempt.account) }
      throw VaultError(unmade: error, provider: attempt.provider)
    }
    guard let response = answer.response else {
      throw .noReply(answer.failure, of: attempt)
    }
    let refusal = attempt.request.isConditional && response.status == 304 ? nil : answer.refusal
    guard let refusal else { return .done(Self.done(reply, response)) }
    let taken = try await take(refusal, response, of: attempt, &tries, over: network)
    let error: VaultError
    switch taken {
    case .step(let step): return step
    case .error(let found): error = found
    }
    return .done(Self.done(reply, response, refusal, error))
  }

  /// A reply that says nothing of the credential: nothing of the vault is needed for it. Nil for others.
  package static func settled(_ reply: RequestReply, of attempt: RequestAttempt) -> RequestAnswer? {
    guard case .success(let answer) = reply.reply, let response = answer.response else {
      return nil
    }
    let isUnchanged = attempt.request.isConditional && response.status == 304
    return answer.refusal == nil || isUnchanged ? done(reply, response) : nil
  }

  private static func done(
    _ reply: RequestReply, _ response: HTTPResponse, _ refusal: Classification? = nil,
    _ error: VaultError? = nil
  ) -> RequestAnswer {
    reply.reception.finish()
    var notes: [String] = []
    if reply.reception.cut != nil {
      notes.append("the provider's refusal was longer than is kept; the rest was cut off")
    }
    if (300...399).contains(response.status), let location = response.header("Location") {
      // A server that moves the address moves its query along, and a token may stand there.
      let place = String(location.prefix { $0 != "?" && $0 != "#" })
      notes.append(
        "a redirect to \(ProviderText.safe(place, limit: 200)) was not followed: the token is"
          + " for the address that it was signed for")
    }
    return RequestAnswer(response: response, refusal: refusal, error: error, notes: notes)
  }

  private enum Taken {
    case step(RequestStep)
    case error(VaultError)
  }

  private func take(
    _ refusal: Classification, _ response: HTTPResponse, of attempt: RequestAttempt,
    _ tries: inout RequestTries, over network: Network
  ) async throws(VaultError) -> Taken {
    switch refusal.errorClass {
    case .expired:
      return try await renew(refusal, response, of: attempt, &tries, over: network)
    case .revoked, .invalid:
      return try await lose(refusal, response, of: attempt, &tries, over: network)
    case .permission:
      _ = try await settle(
        refusal, body: response, for: attempt.account, by: attempt.access,
        generation: attempt.generation, permissions: attempt.permissions, over: network)
    case .throttled:
      if let time = refusal.retryAfter {
        pauses.note(time, for: attempt.client)
        let seconds = max(0, time.seconds - now.seconds)
        let isSpent = attempt.request.upload?.isSpent == true
        if refusal.mayRetry, !isSpent, tries.mayWait(seconds) {
          return .step(seconds == 0 ? .again : .wait(seconds: seconds))
        }
      }
    case .userAction, .transient, .clock, .config, .content, .pending: break
    }
    return .error(.refused(refusal, by: attempt))
  }

  // MARK: The credential

  /// Whether another credential is stored by now than the one that was refused: then the refusal says
  /// nothing of it.
  private func hasMoved(_ attempt: RequestAttempt) throws(VaultError) -> Bool {
    try store.read { () throws(VaultError) in
      let stored = try Records(store).credential(
        attempt.account.id, client: attempt.access.clientID)
      return stored.map { $0.0.generation != attempt.generation } ?? false
    }
  }

  /// One renewal, and one more try.
  private func renew(
    _ refusal: Classification, _ response: HTTPResponse, of attempt: RequestAttempt,
    _ tries: inout RequestTries, over network: Network
  ) async throws(VaultError) -> Taken {
    if tries.hasRenewed {
      var error = VaultError.refused(refusal, by: attempt)
      error.message += ", the renewed token as well"
      return .error(error)
    }
    tries.hasRenewed = true
    if try hasMoved(attempt) { return .step(.again) }
    let renewal = try await renew(
      attempt.account, clientID: attempt.access.clientID, over: network,
      .expired(evidence(refusal, response)), refused: attempt.generation)
    if let error = failure(of: renewal) { return .error(error) }
    guard renewal.generation != attempt.generation else {
      return .error(.refused(refusal, by: attempt))
    }
    return .step(.again)
  }

  /// The credential is gone, or the app's access; unless it was another credential, or a fault of ours.
  private func lose(
    _ refusal: Classification, _ response: HTTPResponse, of attempt: RequestAttempt,
    _ tries: inout RequestTries, over network: Network
  ) async throws(VaultError) -> Taken {
    if try hasMoved(attempt) {
      if tries.hasRenewed { return .error(.refused(refusal, by: attempt)) }
      tries.hasRenewed = true
      return .step(.again)
    }
    if attempt.provider.protocol == .oauth1 {
      switch await control(attempt, over: network) {
      case .refused: break
      case .good:
        return .error(
          VaultError(
            .config,
            "\(attempt.provider.name) refused this request and takes the same token for another:"
              + " the request or its signature is wrong",
            hint: "vault request --dry-run shows what would be sent"))
      case .unknown: return .error(.unsure(refusal, of: attempt))
      }
    }
    _ = try await settle(
      refusal, body: response, for: attempt.account, by: attempt.access,
      generation: attempt.generation, permissions: attempt.permissions, over: network)
    return .error(.refused(refusal, by: attempt))
  }

  private enum Control { case good, refused, unknown }

  /// Whether the credential is good for the plainest of requests.
  ///
  /// Some servers of OAuth 1.0a say "invalid token" of a signature that does not hold, and a fault in
  /// signing one parameter must not cost a person the account (FIELD-CASES B35).
  private func control(_ attempt: RequestAttempt, over network: Network) async -> Control {
    guard let address = attempt.provider.endpoint(.userinfo),
      let url = try? RequestURL(address)
    else { return .refused }
    do throws(OAuthError) {
      let reply = try await network.send(
        to: url.origin, at: .api, of: attempt.provider, canRenew: attempt.canRenew,
        hasProof: false
      ) { (time) throws(OAuthError) in
        var request = try network.authorize(
          ResourceRequest("GET", url), by: attempt.access, of: attempt.provider, time: time)
        request.limits.total = 30_000
        return request
      }
      guard reply.response != nil else { return .unknown }
      switch reply.refusal?.errorClass {
      case nil: return .good
      case .invalid, .revoked: return .refused
      default: return .unknown
      }
    } catch {
      return .unknown
    }
  }
}

extension VaultError {
  /// What a refusal of the API means for who sent the request. The provider's own words are in the body,
  /// which is handed out; a code that no row knows may be a piece of a token.
  static func refused(_ refusal: Classification, by attempt: RequestAttempt) -> VaultError {
    let provider = attempt.provider
    var text = "\(provider.name) refused the request: \(refusal.errorClass.rawValue)"
    if let status = refusal.status { text += ", status \(status)" }
    if refusal.isKnownCode, let code = refusal.code { text += ", code \(code)" }
    let account = attempt.account
    let show = "vault explain \(account.id.text) --app \(attempt.app)"
    switch refusal.errorClass {
    case .revoked, .invalid:
      return VaultError(.signIn, text, hint: signIn(account))
    case .permission:
      return VaultError(.revoked, text, hint: show, reason: .missingScope)
    case .userAction:
      return VaultError(
        .tryAgain, text + (refusal.advice.map { ": \($0)" } ?? ""),
        hint: refusal.advice ?? "see \(provider.name)'s own site")
    case .throttled:
      if let time = refusal.retryAfter { text += "; the next try makes sense at \(time)" }
      if let advice = refusal.advice { text += ": \(advice)" }
      return VaultError(.tryAgain, text, reason: .throttled)
    case .clock:
      return VaultError(.tryAgain, text, hint: "set this machine's clock")
    case .expired, .transient, .pending:
      if let time = refusal.retryAfter { text += "; the next try makes sense at \(time)" }
      return VaultError(.tryAgain, text)
    case .config:
      return VaultError(.config, text, hint: "vault show-provider \(provider.id)")
    case .content: return VaultError(.failed, text)
    }
  }

  /// A refusal that would cost the account, and that could not be looked into.
  fileprivate static func unsure(
    _ refusal: Classification, of attempt: RequestAttempt
  ) -> VaultError {
    var error = refused(refusal, by: attempt)
    error.code = .tryAgain
    error.message += ", and it could not be found out whether that is the token's fault"
    error.hint = "vault explain \(attempt.account.id.text) --app \(attempt.app)"
    return error
  }

  private static func signIn(_ account: Account) -> String {
    "vault sign-in \(account.id.text)"
  }

  fileprivate static func noReply(
    _ failure: HTTPFailure?, of attempt: RequestAttempt
  ) -> VaultError {
    guard let failure else { return VaultError(.tryAgain, "\(attempt.provider.name): no reply") }
    var text = "\(attempt.provider.name): \(failure.text)"
    if failure.mayHaveBeenSent, !attempt.request.method.isIdempotent {
      text += "; whether \(attempt.request.method.rawValue) was carried out is not known"
    }
    switch failure.kind {
    case .badRequest: return VaultError(.config, text)
    case .tooLarge, .refused: return VaultError(.failed, text)
    case .file, .body: return VaultError(.io, text)
    case .resolve, .connect, .tls, .timeout, .broken, .cancelled:
      return VaultError(.tryAgain, text)
    }
  }
}
