import AccountVault
import AccountVaultNetwork
import HTTP
import HTTPTypes
import Listener
import Synchronization
import TestSupport
import Time

/// A provider on this machine: a built-in definition whose addresses are those of a server.
struct TestProvider {
  let server: ScriptedServer
  let type: String

  /// - Parameter answer: Gets each request and its number, from 0.
  init(
    _ base: String, more: String = "",
    _ answer: @escaping @Sendable (HTTPServer.Request, Int) -> HTTPServer.Response
  ) throws {
    server = try ScriptedServer(answer)
    type = "\(base)-test"
    self.base = base
    self.more = more
  }

  private let base: String
  private let more: String

  func add(to session: borrowing Session) throws {
    let url = server.url
    var endpoints = [
      #""token":"\#(url)/token""#, #""revoke":"\#(url)/revoke""#, #""userinfo":"\#(url)/me""#,
    ]
    if base.hasPrefix("github") {
      endpoints[1] = #""revoke":"\#(url)/applications/{client_id}/token""#
      endpoints.append(#""introspect":"\#(url)/applications/{client_id}/token""#)
    } else {
      endpoints.append(#""introspect":"\#(url)/introspect""#)
    }
    endpoints.append(#""permissions":"\#(url)/permissions""#)
    _ = try session.addProvider(
      #"{"id":"\#(type)","extends":"\#(base)","endpoints":{\#(endpoints.joined(separator: ","))},"#
        + #""api_hosts":["127.0.0.1"]\#(more)}"#)
  }
}

extension Place {
  /// The network of this machine, with the place's clock; it waits for nothing, and draws the longest
  /// wait.
  func network(_ wrap: (HTTPClient) -> any Transport = { $0 }) -> Network {
    Network(
      transport: wrap(HTTPClient(version: "0", environment: HTTPEnvironment { _ in nil })),
      signatures: .libcrypto, clock: clock.clock, wait: { _ in true }, random: { $0.upperBound })
  }
}

extension HTTPServer.Request {
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
