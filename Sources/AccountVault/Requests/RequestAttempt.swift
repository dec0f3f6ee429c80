import Accounts
import HTTPTypes
import OAuth
import Providers
import Time

/// One signed request that may be sent: allowed, recorded, its credential opened. It knows no session, so
/// that many can be under way in tasks of their own.
package struct RequestAttempt: Sendable {
  let request: CheckedRequest
  let provider: Provider
  package let account: Account
  let permissions: [String]
  let app: String
  let access: Access
  /// Of the credential that it is signed with.
  let generation: Int64
  let canRenew: Bool
  /// When that credential ends, as far as it is known.
  let endsAt: Timestamp?

  var client: ClientReference { ClientReference(type: account.type, clientID: access.clientID) }

  /// Sends it, and waits for the whole reply. A success is handed out while it comes, unless the
  /// definition says that it may hold an error; anything else is kept, and handed out once it is
  /// settled.
  package func send(
    over network: Network, to receiver: any ResponseReceiver
  ) async -> RequestReply {
    let reception = Reception(
      receiver, readsSuccess: provider.errorBody.inSuccess, mask: access.mask)
    var network = network
    network.transport = ReceivingTransport(transport: network.transport, reception: reception)
    let limits = httpLimits
    do throws(OAuthError) {
      let reply = try await network.send(
        to: request.url.origin, at: .api, of: provider, canRenew: canRenew,
        hasProof: access.proof != nil
      ) { (time) throws(OAuthError) in
        // The first read as well as each that follows begins at the body's beginning.
        if let upload = request.upload, !upload.rewind() { throw .badParameter("body") }
        var resource = ResourceRequest(request.method.rawValue, request.url)
        resource.headers = request.headers
        resource.body = request.body
        var signed = try network.authorize(resource, by: access, of: provider, time: time)
        signed.limits = limits
        signed.mayPause = request.upload != nil || receiver.mayPause
        return signed
      }
      return RequestReply(reply: .success(reply), reception: reception)
    } catch {
      return RequestReply(reply: .failure(error), reception: reception)
    }
  }

  private var httpLimits: HTTPLimits {
    var limits = HTTPLimits()
    limits.connect = request.limits.connectSeconds * 1000
    limits.total = request.limits.totalSeconds.map { $0 * 1000 }
    limits.stall = request.limits.stallSeconds
    limits.body = request.limits.responseBytes
    return limits
  }
}

/// What came of an attempt, before it is settled.
package struct RequestReply: Sendable {
  let reply: Result<EndpointReply, OAuthError>
  let reception: Reception
}
