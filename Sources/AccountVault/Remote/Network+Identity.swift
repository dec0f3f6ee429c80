import Faults
import Providers
import HTTPTypes
import Sodium

extension Network {
  /// Who a token belongs to, as the provider's `userinfo` says.
  ///
  /// - Returns: Nil for what the reply does not say, and both where the provider has no such address.
  /// - Throws: ``VaultError``: what the refusal means; `tryAgain` where no reply came.
  package func identity(
    of access: Access, _ provider: Provider
  ) async throws(VaultError) -> (userID: String?, username: String?) {
    guard let address = provider.address(.userinfo, of: access.clientID) else { return (nil, nil) }
    let reply = try await ask("GET", address, by: access, of: provider)
    if let refusal = reply.refusal {
      throw VaultError(refused: refusal, by: provider, asked: "who the token belongs to")
    }
    return reply.response?.body.withBytes { provider.identity(in: $0) } ?? (nil, nil)
  }
}

extension VaultError {
  /// A question about a token that the provider did not answer.
  init(refused refusal: Classification, by provider: Provider, asked: String) {
    var text = "\(provider.name) did not say \(asked): \(refusal.errorClass.rawValue)"
    if refusal.isKnownCode, let code = refusal.code { text += ", code \(code)" }
    let hint = "vault show-provider \(provider.id)"
    switch refusal.errorClass {
    case .throttled, .transient, .clock, .pending:
      if let time = refusal.retryAfter { text += "; again at \(time)" }
      self.init(.tryAgain, text, hint: "vault renew --dry-run")
    case .config, .content: self.init(.config, text, hint: hint)
    case .permission: self.init(.revoked, text, hint: hint, reason: .missingScope)
    case .expired, .revoked, .invalid, .userAction:
      self.init(
        .signIn, text,
        hint: refusal.advice ?? "vault add-account --type \(provider.id) --username"
          + " NAME --response FILE")
    }
  }
}
