import Encoding
import Faults
import HTTPTypes
import Ledger
import OAuth
import Providers
import Sodium
import Time

/// What an answer to a renewal means, by its class alone. No text is ever matched here.
enum RenewalVerdict: ~Copyable {
  /// A new token, not stored yet.
  case renewed(TokenResponse)
  /// The provider's table says that the grant is dead.
  case rejected(Classification)
  case failed(Failure)

  /// A failure, and how the next try is spaced.
  struct Failure {
    /// Whom it concerns.
    enum Scope {
      /// The provider refuses the client: none of its accounts is to blame.
      case client
      /// The server or the network: all accounts of the client wait.
      case passing
      /// This credential only.
      case credential
    }

    var errorClass: ErrorClass
    var scope: Scope
    var backoff: Backoff
    var reason: String
    /// What the provider said; nil where it said nothing.
    var refusal: Classification?
    /// Whether the provider may have put another token in the old one's place.
    var mayBeSpent = false
    /// Whether the outcome is `rejected` although the credential stays as it is.
    var isRefusal = false
  }
}

extension RenewalAnswer {
  /// Why the provider did not give a token; nil where it did.
  var refusal: Classification? { reply?.refusal }

  /// What is kept of the answer in the ledger.
  func evidence(_ refusal: Classification?) -> Evidence? {
    guard let response = reply?.response else {
      return refusal.map { Evidence($0, nil) }
    }
    return refusal.map { Evidence($0, response) } ?? Evidence(response)
  }

  /// Decides.
  func verdict(_ provider: Provider) -> RenewalVerdict {
    if let unplaced {
      let isPassing = unplaced.code == .tryAgain
      return .failed(
        .init(
          errorClass: isPassing ? .transient : .config, scope: .passing,
          backoff: isPassing ? .passing : .unknown, reason: unplaced.message))
    }
    guard let reply else {
      let error = unmade ?? .badAnswer("no answer")
      return .failed(
        .init(
          errorClass: .config, scope: .credential, backoff: .unknown,
          reason: VaultError(unmade: error, provider: provider).message))
    }
    guard let response = reply.response else {
      return .failed(
        .init(
          errorClass: .transient, scope: .passing, backoff: .passing,
          reason: reply.failure?.text ?? "no answer", refusal: reply.refusal,
          mayBeSpent: reply.failure?.mayHaveBeenSent ?? true))
    }
    if let refusal = reply.refusal { return Self.verdict(refusal, response, provider) }
    do throws(ResponseError) {
      return .renewed(
        try response.body.withBytes { (body: RawSpan) throws(ResponseError) in
          try TokenResponse.parse(body, for: provider, at: reply.sentAt, from: .renewal)
        })
    } catch {
      if case .refused(let refusal) = error {
        return Self.verdict(refusal, response, provider)
      }
      // A success that cannot be read: the old token may be spent all the same.
      return .failed(
        .init(
          errorClass: .config, scope: .credential, backoff: .unknown, reason: error.description,
          mayBeSpent: true))
    }
  }

  private static func verdict(
    _ refusal: Classification, _ response: HTTPResponse, _ provider: Provider
  ) -> RenewalVerdict {
    func failed(
      _ scope: RenewalVerdict.Failure.Scope, _ backoff: Backoff, _ reason: String? = nil,
      isRefusal: Bool = false
    ) -> RenewalVerdict {
      var text = reason ?? "\(provider.name) answered \(refusal.errorClass.rawValue)"
      if let code = refusal.shownCode { text += ", code \(code)" }
      if let advice = refusal.advice { text += ": \(advice)" }
      return .failed(
        .init(
          errorClass: refusal.errorClass, scope: scope, backoff: backoff, reason: text,
          refusal: refusal, isRefusal: isRefusal))
    }
    switch refusal.errorClass {
    case .revoked, .invalid, .expired: return .rejected(refusal)
    case .permission: return failed(.credential, .person, isRefusal: true)
    case .userAction: return failed(.credential, .person)
    case .throttled: return failed(.passing, refusal.mayRetry ? .passing : .person)
    case .transient, .clock: return failed(.passing, .passing)
    case .config:
      if (300...399).contains(response.status) {
        return failed(
          .client, .client,
          "the token endpoint redirects\(Self.target(response)), and redirects are not followed")
      }
      // What no row and no specification names may be this one token's fault on a server that says so
      // in its own way (FIELD-CASES B41).
      return refusal.isAboutClient
        ? failed(.client, .client, "\(provider.name) refuses the client or the request")
        : failed(.credential, .unknown)
    case .content, .pending: return failed(.credential, .unknown)
    }
  }

  /// The origin that a redirect names, no more: the rest may hold anything.
  private static func target(_ response: HTTPResponse) -> String {
    guard let location = response.header("Location"), let url = try? RequestURL(location) else {
      return ""
    }
    return " to \(ProviderText.safe(url.origin, limit: 120))"
  }
}

extension Classification {
  /// Whether a refusal of class `config` is about the client and so about all of its accounts.
  fileprivate var isAboutClient: Bool {
    switch rule {
    case .row: true
    case .standard:
      ["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_dpop_proof"]
        .contains(code)
    default: false
    }
  }

  /// A code that a row or a specification names; another may repeat a secret.
  var shownCode: String? {
    isKnownCode ? code.map { $0 + (subcode.map { "/\($0)" } ?? "") } : nil
  }
}
