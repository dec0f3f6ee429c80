package import Sodium

/// A request as it will be sent, byte for byte: nothing of it is encoded, completed or changed on the
/// way. What may be a secret lies in memory that wipes itself.
package struct HTTPRequest: Sendable {
  /// In upper case.
  package var method: String

  /// Absolute and encoded, without fragment. Shown in errors up to its path.
  package var url: String

  /// Appended to the query as it is, such as `access_token=…`, and shown nowhere. An address that
  /// carries a secret lands in the logs of whoever sees it, so this is for the providers that take
  /// tokens in no other place.
  package var secretQuery: SharedSecret?

  /// Headers that hold no secret.
  package var headers: [(name: String, value: String)]

  /// Headers that do, such as `Authorization`.
  package var secretHeaders: [(name: String, value: SharedSecret)]

  package var body: HTTPBody

  package var limits = HTTPLimits()

  /// Whether who reads the reply, or who gives the body, may let it wait. It then goes over HTTP/1.1,
  /// where its own connection alone waits: streams of one HTTP/2 connection share what has come.
  package var mayPause = false

  package init(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    secretHeaders: [(name: String, value: SharedSecret)] = [], body: HTTPBody = .none
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.secretHeaders = secretHeaders
    self.body = body
  }
}

/// What goes up with a request.
package enum HTTPBody: Sendable {
  case none
  /// The bytes, and their media type.
  case bytes(SharedSecret, contentType: String)
  /// `multipart/form-data` (RFC 7578), whose files are read while they are sent.
  case multipart([Part])
  /// Read while it is sent, and never kept: of a known length, or in chunks. Of the media type where
  /// there is one.
  case pulled(any HTTPBodyReader, length: Int64?, contentType: String?)

  /// One part of a multipart body.
  package struct Part: Sendable {
    package enum Content: Sendable {
      case bytes(SharedSecret)
      /// A path; the file must be there and readable when the request begins.
      case file(String)
    }

    package var name: String
    package var content: Content
    /// As the server is told; nil for none.
    package var fileName: String?
    package var contentType: String?

    package init(
      name: String, content: Content, fileName: String? = nil, contentType: String? = nil
    ) {
      self.name = name
      self.content = content
      self.fileName = fileName
      self.contentType = contentType
    }
  }
}

/// Who gives a body while it is sent. Called on the transport's thread, which never waits here.
package protocol HTTPBodyReader: Sendable {
  /// Lends the next bytes to `body`, `limit` of them at most.
  func read(_ limit: Int, _ body: (RawSpan) -> Void) -> HTTPBodyStep

  /// Whom to call, on any thread, when there is something to read again after a
  /// ``HTTPBodyStep/notYet``. The last that was given counts.
  func onReadable(_ wake: @escaping @Sendable () -> Void)
}

/// What a read of a body gave.
package enum HTTPBodyStep: Sendable, Equatable {
  /// So many bytes, at least one.
  case bytes(Int)
  /// None yet.
  case notYet
  /// That was all of it.
  case end
  /// There is no more, and it was not all: the request ends.
  case broken
}

/// What a request may cost.
package struct HTTPLimits: Sendable, Equatable {
  /// Milliseconds until the connection stands.
  package var connect: Int64 = 10_000
  /// Milliseconds for all of it; nil for no end, as a long upload needs: then `stall` ends it.
  package var total: Int64? = 60_000
  /// Seconds during which less than one byte a second moved.
  package var stall: Int64 = 30
  /// Bytes of the body that are kept or handed on, counted after any decoding; more is a failure.
  package var body: Int = 1 << 20

  package init() {}
}
