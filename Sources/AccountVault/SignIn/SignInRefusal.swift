import Faults
import HTTPTypes
import OAuth
import Providers
import Time

extension VaultError {
  /// A sign-in that was cut off, by the person or by whatever ended the task. Never a no.
  static let signInInterrupted = VaultError(
    .tryAgain, "the sign-in was interrupted; nothing was changed", reason: .interrupted)

  /// A sign-in that nobody answered in time.
  static func signInTooLate(_ seconds: Int64) -> VaultError {
    VaultError(
      .tryAgain, "nobody finished the sign-in within \(seconds) seconds; nothing was changed",
      reason: .interrupted)
  }

  /// What an answer of the provider means for a sign-in: the person's no, or what its class says.
  ///
  /// - Parameters:
  ///   - what: Which step was refused, for the message.
  ///   - named: The `error` of a redirect, where the definition's code is another member.
  init(
    signIn refusal: Classification, at what: String, _ provider: Provider, named: String? = nil,
    response: HTTPResponse? = nil, failure: HTTPFailure? = nil
  ) {
    if failure?.kind == .cancelled {
      self = .signInInterrupted
      return
    }
    if [refusal.code, named].contains(where: { $0.map(SignInCodes.denials.contains) ?? false }) {
      self.init(.denied, "the person said no at \(provider.name); nothing was changed")
      return
    }
    var text = "\(provider.name) refused \(what): \(refusal.errorClass.rawValue)"
    if let failure {
      text = "\(provider.name) did not answer \(what): \(ProviderText.safe(failure.text))"
    }
    if let status = response?.status, (300...399).contains(status) {
      text = "\(provider.name) answered \(what) with a redirect, which is not followed"
      // Where to tells of a wrong address in the definition; the rest of it may hold a secret.
      if let to = response?.header("Location"), let url = try? RequestURL(to) {
        text += ": to \(ProviderText.safe(url.origin))"
      }
    }
    if refusal.isKnownCode, let code = refusal.code { text += ", code \(code)" }
    if let time = refusal.retryAfter { text += "; again at \(time)" }
    if let advice = refusal.advice { text += "; \(advice)" }
    switch refusal.errorClass {
    case .throttled, .transient, .clock, .pending, .userAction: self.init(.tryAgain, text)
    case .config, .content: self.init(.config, text, hint: "vault show-provider \(provider.id)")
    case .permission, .expired, .revoked, .invalid: self.init(.signIn, text)
    }
  }
}

/// Codes whose meaning is the same at every provider.
enum SignInCodes {
  /// The person's no: of RFC 6749 section 4.1.2.1 and RFC 8628 section 3.5, of Microsoft's device
  /// grant, and of LinkedIn's two buttons.
  static let denials: Set<String> = [
    "access_denied", "authorization_declined", "user_cancelled_login", "user_cancelled_authorize",
  ]
}
