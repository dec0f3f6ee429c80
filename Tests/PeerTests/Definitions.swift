import Foundation

extension Peer {
  /// A provider definition of one of its servers.
  ///
  /// - Parameters:
  ///   - address: Where the token and device endpoints are, if a proxy stands before them.
  ///   - changes: Members that are put over it, as `extends` would.
  func definition(
    _ type: String, server: String = "plain", tokenAt address: String? = nil,
    _ changes: [String: Any] = [:]
  ) throws -> String {
    var endpoints: [String: Any] = [:]
    for name in [
      "authorize", "token", "device", "revoke", "introspect", "par", "request_token",
      "reverse_auth", "userinfo",
    ] {
      if let place = try told()["servers"][server][name].text { endpoints[name] = place }
    }
    for name in ["token", "device"] {
      if let address, let place = endpoints[name] as? String {
        endpoints[name] = place.replacing(self.address, with: address)
      }
    }
    var definition: [String: Any] = [
      "id": type, "name": "The peer \(type)", "endpoints": endpoints,
      "api_hosts": ["127.0.0.1:\(port)"],
      "permissions": [
        "read": ["group": "read", "basic": true], "write": ["group": "write"],
      ],
    ]
    switch kind {
    case .oauth1:
      definition["protocol"] = "oauth1"
      definition["identity"] = ["user_id": ["id_str"], "username": ["screen_name"]]
      definition["granted"] = ["from": "none"]
      definition["revocation"] = "signed_post"
      definition["error_body"] = ["code": "errors.*.code", "message": "errors.*.message"]
      definition["errors"] = [["status": 401, "code": 89, "class": "invalid"]]
    case .glewlwyd:
      definition["protocol"] = "oauth2"
      // It takes what stands before and after the colon as it is.
      definition["client_auth"] = "basic_raw"
      definition["pkce"] = "S256"
      definition["renewal"] = [
        "method": "refresh_token", "rotation": "single_use", "minimum_interval_seconds": 0,
      ]
      // A refresh token that is dead is told by the status alone.
      definition["errors"] = [["status": 400, "at": "renewal", "class": "invalid"]]
      endpoints["userinfo"] = try endpoint("resource", of: server)
      // Version 2.7.5 refuses every proof that comes with a pushed request.
      if server == "bound" { endpoints["par"] = nil }
      definition["identity"] = ["user_id": ["sub"]]
      definition["endpoints"] = endpoints
    case .toolkit, .mock, .proxy:
      definition["protocol"] = "oauth2"
      definition["client_auth"] = "post"
      definition["pkce"] = "S256"
      definition["renewal"] = [
        "method": "refresh_token", "rotation": "single_use", "minimum_interval_seconds": 0,
      ]
      endpoints["userinfo"] = try endpoint("resource", of: server)
      definition["identity"] =
        kind == .mock ? ["user_id": ["sub"]] : ["user_id": ["id"], "username": ["username"]]
      definition["endpoints"] = endpoints
    }
    for (name, value) in changes { definition[name] = value }
    return String(
      decoding: try JSONSerialization.data(withJSONObject: definition, options: [.sortedKeys]),
      as: UTF8.self)
  }
}
