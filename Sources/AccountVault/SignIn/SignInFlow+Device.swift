import Accounts
import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium
import Time

extension SignInFlow {
  /// The device grant (RFC 8628), and Facebook's own (`device_style`).
  func device() async throws(SignInFailure) -> SignInReply {
    guard let begin = plan.server.endpoints[.device] else {
      throw .unmade(.badURL("the device address"))
    }
    let isFacebooks = provider.deviceStyle == .facebook
    let status = plan.server.endpoints[isFacebooks ? .deviceStatus : .token]
    guard let status else { throw .unmade(.badURL("the address to poll")) }
    let secret = plan.client.secret
    if isFacebooks, secret == nil { throw .unmade(.insecure("no client secret")) }
    let proof = try oauth { () throws(OAuthError) in try newProof() }
    let begun: EndpointReply
    do throws(OAuthError) {
      begun = try await network.exchange(with: begin, at: .device, of: provider) {
        (time) throws(OAuthError) in
        if isFacebooks, let secret {
          return try FacebookDevice.begin(
            at: begin, clientID: plan.client.client.clientID, secret: secret.bytes,
            scopes: plan.scopes)
        }
        return try OAuth2.device(
          at: begin, scopes: plan.scopes, separator: provider.scopeSeparator, by: client(time))
      }
    } catch {
      throw .unmade(error)
    }
    let answer = try body(of: begun, at: "the beginning of the sign-in")
    let device = try oauth { () throws(OAuthError) in
      try answer.body.withBytes { (body) throws(OAuthError) in try DeviceAuthorization(body) }
    }
    let code = SharedSecret(device.deviceCode.copy())
    let codeEnd = network.clock.sinceBoot() + device.lifetime * 1_000_000_000
    place.show(
      prompt(
        device.address, complete: device.completeAddress, userCode: device.userCode,
        seconds: min(device.lifetime, plan.seconds)))
    return try await poll(
      every: device.interval, until: min(plan.deadline, codeEnd), proof
    ) { () async throws(OAuthError) in
      try await network.exchange(with: status, at: .device, of: provider, proof: proof?.key) {
        (time) throws(OAuthError) in
        if isFacebooks, let secret {
          return try FacebookDevice.poll(
            at: status, clientID: plan.client.client.clientID, secret: secret.bytes,
            code: code.bytes)
        }
        return try OAuth2.devicePoll(at: status, deviceCode: code.bytes, by: client(time))
      }
    }
  }

  /// Asks until the person has answered.
  ///
  /// The interval grows by five seconds where the server says so, for this and all later asks, and
  /// doubles where no answer comes in time (RFC 8628 section 3.5).
  private func poll(
    every seconds: Int64, until end: Int64, _ proof: SignInProof?,
    _ ask: () async throws(OAuthError) -> EndpointReply
  ) async throws(SignInFailure) -> SignInReply {
    var interval = seconds
    while true {
      let next = network.clock.sinceBoot() + interval * 1_000_000_000
      guard await pause(until: min(next, end)) else { throw .vault(.signInInterrupted) }
      guard next < end else { throw .vault(.signInTooLate(plan.seconds)) }
      let reply: EndpointReply
      do throws(OAuthError) { reply = try await ask() } catch { throw .unmade(error) }
      guard let refusal = reply.refusal else {
        return try body(of: reply, at: "the sign-in", proof: proof)
      }
      switch refusal.errorClass {
      case .pending:
        let named = reply.response?.body.withBytes { DeviceAuthorization.interval(ofAnswer: $0) }
        if refusal.slower { interval += 5 }
        interval = max(interval, min(named ?? 0, 300))
      case .transient where reply.failure?.kind != .cancelled, .throttled:
        interval = min(interval * 2, 300)
        if let time = refusal.retryAfter {
          interval = max(interval, min(time.seconds - network.clock.now().seconds, 300))
        }
      default: return try body(of: reply, at: "the sign-in")
      }
    }
  }

  /// Waits; false where the person or the task ended it.
  private func pause(until end: Int64) async -> Bool {
    let network = network
    guard let interruption = place.interruption else { return await network.wait(end) }
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await network.wait(end) }
      group.addTask { !(await interruption()) }
      let isOver = await group.next() ?? false
      group.cancelAll()
      return isOver && !Task.isCancelled
    }
  }
}
