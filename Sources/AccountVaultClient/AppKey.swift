internal import FoundationEssentials
internal import UnixSocket

/// An app's key (`vapp_…`), which `vault add-app` and `vault new-app-key` show once. Overwritten when
/// the value goes.
///
/// It never belongs on a command line, where every user of the machine reads it, and hardly in the
/// environment, which children inherit.
public struct AppKey: ~Copyable, Sendable {
  let bytes: WipedBytes

  /// Takes the key out of `bytes`, which are overwritten; spaces and line ends around it are no part
  /// of it. It may stand behind `Authorization: Bearer `, as curl reads it from a file.
  ///
  /// - Throws: ``AgentError`` (`config`) where that cannot be a key.
  public init(wiping bytes: inout [UInt8]) throws(AgentError) {
    try self.init(wiping: &bytes, from: "the app key")
  }

  /// Reads a file that holds the key and nothing else, or the header with it.
  ///
  /// - Throws: ``AgentError`` (`config`) that names the file.
  public init(contentsOf path: String) throws(AgentError) {
    guard var data = FileManager.default.contents(atPath: path) else {
      throw AgentError(
        .config, .setup, "\(path): the app key cannot be read",
        hint: "vault new-app-key APP, and put what it prints there with mode 0400")
    }
    var bytes = Array(data)
    data.resetBytes(in: data.startIndex..<data.endIndex)
    try self.init(wiping: &bytes, from: path)
  }

  /// Reads the file that `$VAULT_APP_KEY_FILE` names.
  ///
  /// - Throws: ``AgentError`` (`config`).
  public static func ofEnvironment() throws(AgentError) -> AppKey {
    guard let path = ProcessInfo.processInfo.environment["VAULT_APP_KEY_FILE"], !path.isEmpty else {
      throw AgentError(
        .config, .setup, "$VAULT_APP_KEY_FILE is not set",
        hint: "set it to the path of a file that holds the app's key")
    }
    return try AppKey(contentsOf: path)
  }

  private init(wiping bytes: inout [UInt8], from place: String) throws(AgentError) {
    defer {
      for index in bytes.indices { bytes[index] = 0 }
      bytes = []
    }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    var text = bytes.drop(while: isSpace)
    let header = "Authorization: Bearer ".utf8
    if text.starts(with: header) { text = text.dropFirst(header.count) }
    var key = Array(text)
    while let last = key.last, isSpace(last) { key.removeLast() }
    // RFC 6750 section 2.1. A line end within would put a header of its own into the request.
    let isToken = key.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-._~+/=_".utf8.contains(byte)
      }
    }
    guard !key.isEmpty, key.count <= 4096, isToken else {
      for index in key.indices { key[index] = 0 }
      throw AgentError(.config, .setup, "\(place): that is no app key; one begins with vapp_")
    }
    self.bytes = WipedBytes(wiping: &key)
  }
}
