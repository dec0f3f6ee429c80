import Accounts
import Encoding
import Faults
import HTTPTypes
import OAuth
import Providers
package import Sodium
import Time

/// What makes a request one of an account, for an app that sends it itself.
package struct RequestSignature: Sendable {
  package let account: AccountID
  /// As it must be sent, byte for byte.
  package let url: String
  /// What must be sent with it, in their order.
  package let headers: [(name: String, value: SharedSecret)]
  /// What must be put behind the address's query, where the provider takes its token there; nil else.
  package let query: SharedSecret?
}

extension Session {
  /// Signs a request that the app itself will send, after writing the use into the ledger.
  ///
  /// The same is checked as before a request is sent for it. An OAuth 1.0a signature is good for this one
  /// request and shows no secret; with OAuth 2.0 what signs is the token itself, so an app that is never
  /// handed one is refused. Address and form are signed exactly as they are given.
  ///
  /// - Throws: ``VaultError``: as ``attempt(_:app:account:permissions:strictly:seenBy:over:)``; `denied`
  ///   with reason `signOnly`; `tryAgain` with reason `expired` where a renewal could help.
  package func signature(
    of request: SignedRequest, app: String, account: String?, permissions: [String],
    seenBy view: View, over network: Network
  ) throws(VaultError) -> RequestSignature {
    let recorded = try recordedUse(
      request, app: app, account: account, permissions: permissions, strictly: false,
      seenBy: view, for: .signature)
    let holder = recorded.use.account
    let provider = try provider(holder.type)
    let (access, _) = try access(
      to: holder, clientID: recorded.use.token.clientID, over: network)
    let client = ClientReference(type: holder.type, clientID: access.clientID)
    if let seconds = pauses.wait(client, now: now) {
      throw .paused(provider, until: now + seconds)
    }
    var resource = ResourceRequest(recorded.request.method.rawValue, recorded.request.url)
    resource.headers = recorded.request.headers
    resource.body = recorded.request.body
    let time = now + network.origins.offset(of: recorded.request.url.origin)
    do throws(OAuthError) {
      let signed = try network.authorize(resource, by: access, of: provider, time: time)
      let open = signed.headers.map { header in
        var value = Array(header.value.utf8)
        return (name: header.name, value: SharedSecret(SecretBytes(wiping: &value)))
      }
      return RequestSignature(
        account: holder.id, url: signed.url, headers: signed.secretHeaders + open,
        query: signed.secretQuery)
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
  }
}
