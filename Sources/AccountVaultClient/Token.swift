internal import UnixSocket

/// A token, which is overwritten when the value goes.
///
/// The copies that ``text`` and the reading of the answer make are not: whoever can read this process's
/// memory finds them. A program that has its requests sent (``AgentClient/send(_:)``) has no token.
public struct Token: ~Copyable, Sendable {
  private let bytes: WipedBytes
  private let secretBytes: WipedBytes?
  /// `Bearer` mostly.
  public let type: String
  /// RFC 3339 in UTC with whole seconds; nil where nobody knows.
  public let expiresAt: String?
  /// The account's id.
  public let account: String
  /// The registration at the provider that the token was given to.
  public let clientID: String?

  struct Wire: Decodable {
    var token: String
    var token_type: String
    var token_secret: String?
    var expires_at: String?
    var account: String
    var client_id: String?
  }

  init(_ wire: consuming Wire) {
    var token = Array(wire.token.utf8)
    bytes = WipedBytes(wiping: &token)
    if let text = wire.token_secret {
      var secret = Array(text.utf8)
      secretBytes = WipedBytes(wiping: &secret)
    } else {
      secretBytes = nil
    }
    type = wire.token_type
    expiresAt = wire.expires_at
    account = wire.account
    clientID = wire.client_id
  }

  /// Lends the token's bytes.
  public func withBytes<R: ~Copyable, E: Error>(
    _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withSpan(body)
  }

  /// The same for the token secret of OAuth 1.0a; nil where there is none.
  public func withSecretBytes<R, E: Error>(
    _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R? {
    switch secretBytes {
    case .some(let bytes): return try bytes.withSpan(body)
    case .none: return nil
    }
  }

  /// A copy as text, for a header. Nobody overwrites it.
  public var text: String { Self.text(of: bytes) }

  /// The same of the token secret of OAuth 1.0a.
  public var secretText: String? {
    switch secretBytes {
    case .some(let bytes): return Self.text(of: bytes)
    case .none: return nil
    }
  }

  private static func text(of bytes: borrowing WipedBytes) -> String {
    bytes.withSpan { bytes in
      String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
  }
}
