import Faults
package import Providers
import HTTPTypes
import Sodium

extension Network {
  /// What the person granted to a token's client, as the provider says now.
  ///
  /// - Returns: Nil where the provider has no way to ask, or answered without saying it: then what is
  ///   known stays as it is.
  /// - Throws: ``VaultError``: what the refusal means; `tryAgain` where no reply came.
  package func granted(
    to access: Access, _ provider: Provider
  ) async throws(VaultError) -> Granted? {
    switch provider.granted.source {
    case .none, .scope: return nil
    case .permissions:
      guard let address = provider.address(.permissions, of: access.clientID) else { return nil }
      let response = try await permissions(at: address, by: access, of: provider)
      return response.body.withBytes { provider.granted(inPermissions: $0) }
    case .header:
      guard let address = provider.address(.userinfo, of: access.clientID) else { return nil }
      let response = try await permissions(at: address, by: access, of: provider)
      return provider.granted(inHeaders: response.headers)
    case .introspect:
      switch try await introspect(access, provider) {
      case .alive(let report, _): return report.scopes.map { Granted(granted: $0) }
      case .refused(let refusal, _), .unanswered(let refusal, _):
        throw VaultError(refused: refusal, by: provider, asked: "what was granted")
      case .impossible: return nil
      }
    case .installations: return try await installations(by: access, of: provider)
    }
  }

  private func permissions(
    at address: String, by access: Access, of provider: Provider
  ) async throws(VaultError) -> HTTPResponse {
    let reply = try await ask("GET", address, by: access, of: provider)
    guard let response = reply.response, reply.refusal == nil else {
      throw VaultError(
        refused: reply.refusal ?? .noReply, by: provider, asked: "what was granted")
    }
    return response
  }

  /// All pages of the installations, up to a thousand. Where a page is missing nothing is known: what
  /// stands on it must not be taken for lost.
  private func installations(
    by access: Access, of provider: Provider
  ) async throws(VaultError) -> Granted? {
    guard let address = provider.address(.permissions, of: access.clientID) else { return nil }
    let separator = address.contains("?") ? "&" : "?"
    var found = Granted(granted: [])
    var count = 0
    for page in 1...10 {
      let response = try await permissions(
        at: "\(address)\(separator)per_page=100&page=\(page)", by: access, of: provider)
      guard
        let part = response.body.withBytes({ provider.granted(inInstallations: $0) })
      else { return nil }
      for name in part.granted.granted where !found.granted.contains(name) {
        found.granted.append(name)
      }
      count += part.count
      if count >= part.total { return found }
      if part.count == 0 { return nil }
    }
    return nil
  }
}
