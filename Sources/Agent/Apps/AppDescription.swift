internal import Listener
internal import Sodium

extension SocketServer.Reply {
  /// The description of what apps may ask: an OpenAPI 3.1 document, as it stands in the project.
  static var description: SocketServer.Reply {
    SocketServer.Reply(
      200, headers: [("Content-Type", "application/json")], body: .bytes(AppDescription.bytes))
  }
}

private enum AppDescription {
  static let bytes: SharedSecret = {
    var bytes = PackageResources.openapi_json
    return SharedSecret(SecretBytes(wiping: &bytes))
  }()
}
