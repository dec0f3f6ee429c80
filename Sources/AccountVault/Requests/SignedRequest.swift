/// A request to a provider's API in the name of an account, as it is before it is signed.
///
/// ``Session/send(_:app:account:permissions:strictly:seenBy:over:to:)`` signs and sends it; the app
/// that it is for never sees the token. Nothing is checked before.
///
/// ```swift
/// var post = SignedRequest(.post, "https://api.x.com/1.1/statuses/update.json")
/// post.parameters = [.init("status", "Hello Ladies + Gentlemen")]
/// ```
public struct SignedRequest: Sendable {
  /// What is done to the thing at the address.
  public enum Method: String, Sendable, CaseIterable {
    /// Reads; parameters go into the query.
    case get = "GET"
    /// Makes something; parameters are a form.
    case post = "POST"
    /// Replaces; parameters are a form.
    case put = "PUT"
    /// Removes; parameters go into the query.
    case delete = "DELETE"
    /// Changes; parameters are a form.
    case patch = "PATCH"
    /// Reads status and headers alone; parameters go into the query.
    case head = "HEAD"

    /// Whether a second one does what the first did already (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { self != .post && self != .patch }

    var takesForm: Bool { self == .post || self == .put || self == .patch }
  }

  /// A parameter, not encoded. Names may repeat, values may be empty, and the order stays.
  public struct Parameter: Sendable, Hashable {
    /// As the provider's documentation writes it.
    public var name: String
    /// Any text.
    public var value: String

    /// A name and its value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// One part of a multipart form (RFC 7578).
  public struct Part: Sendable {
    /// What is in it.
    public enum Content: Sendable {
      /// These bytes.
      case bytes([UInt8])
      /// What the file holds when it is sent: it is read while it goes out, and never as a whole.
      case file(path: String)
    }

    /// The name of the form's field.
    public var name: String
    /// What is in it.
    public var content: Content
    /// What the provider is told that the file is called; nil for the last part of the path, and for
    /// none where there is no file.
    public var fileName: String?
    /// Its media type; nil for what the provider makes of it.
    public var contentType: String?

    /// A part of any content.
    public init(
      _ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil
    ) {
      self.name = name
      self.content = content
      self.fileName = fileName
      self.contentType = contentType
    }

    /// A part that is a text.
    public init(_ name: String, _ text: String) {
      self.init(name, .bytes(Array(text.utf8)))
    }
  }

  /// A body that is no form. OAuth 1.0a does not sign it, unless the definition says `body_hash`.
  public struct Body: Sendable {
    /// As they are sent.
    public var bytes: [UInt8]
    /// Their media type.
    public var contentType: String

    /// Bytes of any kind.
    public init(_ bytes: [UInt8], contentType: String) {
      self.bytes = bytes
      self.contentType = contentType
    }

    /// JSON, as it is: it is neither read nor changed.
    public static func json(_ text: String) -> Body {
      Body(Array(text.utf8), contentType: "application/json")
    }
  }

  /// What it may cost.
  public struct Limits: Sendable {
    /// Seconds until the connection stands.
    public var connectSeconds: Int64 = 10
    /// Seconds for all of it; nil for no end: then only a transfer that stands still ends.
    public var totalSeconds: Int64?
    /// Seconds without a byte after which it is given up.
    public var stallSeconds: Int64 = 60
    /// Bytes of the reply's body; a longer one is a failure.
    public var responseBytes = 1 << 40
    /// Seconds that it may wait in all where the provider says when the next try makes sense. With 0
    /// it does not wait.
    public var waitSeconds: Int64 = 0

    /// The limits that fit most calls.
    public init() {}
  }

  /// What is done.
  public var method: Method
  /// Absolute and encoded, without fragment; https, or http to a loopback address.
  public var url: String
  /// Encoded once, and signed as they are sent: in the query or as a form, by the method. With
  /// ``parts`` they are parts of their own, which OAuth 1.0a does not sign.
  public var parameters: [Parameter] = []
  /// A multipart form; not with GET, DELETE, HEAD, and not beside ``body`` and ``upload``.
  public var parts: [Part] = []
  /// A body that is no form; not with GET and HEAD.
  public var body: Body?
  /// A body that is read while it is sent; where ``body`` may be, and not beside it.
  public var upload: Upload?
  /// Beside those that the vault sets itself: who the request is from, how it is framed and what
  /// signs it are not the caller's to say.
  public var headers: [(name: String, value: String)] = []
  /// What it may cost.
  public var limits = Limits()

  /// A request with nothing in it but its address.
  public init(_ method: Method, _ url: String) {
    self.method = method
    self.url = url
  }
}
