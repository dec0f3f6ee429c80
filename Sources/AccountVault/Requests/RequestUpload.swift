/// Who gives the body of a signed request while it is sent.
///
/// Called on a thread of the network's, which many transfers share, and which must never wait here.
public protocol RequestBodyReader: Sendable {
  /// Lends the next bytes to `body`, `limit` of them at most.
  func read(_ limit: Int, _ body: (RawSpan) -> Void) -> RequestBodyStep

  /// Whom to call, on any thread, when there is something to read again after a
  /// ``RequestBodyStep/notYet``. The last that was given counts.
  func onReadable(_ wake: @escaping @Sendable () -> Void)
}

/// What a read of a body gave.
public enum RequestBodyStep: Sendable, Equatable {
  /// So many bytes, at least one.
  case bytes(Int)
  /// None yet.
  case notYet
  /// That was all of it.
  case end
  /// There is no more, and it was not all: the request ends.
  case broken
}

extension SignedRequest {
  /// A body that is read while it is sent, and that is never in memory as a whole.
  ///
  /// It is read once. What was read is kept as long as it is at most 1 MiB, so that a request which the
  /// provider wants anew, after a renewal, can be sent again; of a longer body nothing is kept, and such
  /// a request fails with `tryAgain` (reason `bodySpent`). OAuth 1.0a does not sign
  /// it.
  public struct Upload: Sendable {
    /// Bytes up to which a body is kept.
    public static let keptBytes = 1 << 20

    /// In bytes; nil where it is not known, and the body goes in chunks.
    public let length: Int64?
    /// Its media type; nil for none.
    public let contentType: String?
    let body: ReplayedBody

    /// A body from a reader. Each request needs one of its own.
    public init(_ reader: any RequestBodyReader, length: Int64?, contentType: String?) {
      self.length = length
      self.contentType = contentType
      body = ReplayedBody(reader, keeps: length.map { $0 <= Self.keptBytes } ?? true)
    }

    /// Whether it may turn out too long to be sent twice.
    var isLong: Bool { length.map { $0 > Self.keptBytes } ?? true }
  }
}
