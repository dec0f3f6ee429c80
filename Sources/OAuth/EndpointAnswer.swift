internal import Encoding
internal import JSON
internal import Sodium

/// The members of an endpoint's answer, which is JSON; some servers send a form instead, whatever was
/// asked for.
struct EndpointAnswer: ~Copyable {
  private enum Content: ~Copyable {
    case json(JSONText)
    case form(FormReply)
  }

  private let content: Content

  /// - Throws: ``OAuthError/badAnswer(_:)``, ``OAuthError/badEscape``.
  init(_ body: RawSpan) throws(OAuthError) {
    var first = 0
    while first < body.byteCount, [0x20, 0x09, 0x0A, 0x0D].contains(body.byte(first)) { first += 1 }
    guard first < body.byteCount else { throw .badAnswer("empty") }
    guard body.byte(first) == UInt8(ascii: "{") else {
      content = .form(try FormReply(body))
      return
    }
    do throws(JSONError) {
      content = .json(try JSONText(body))
    } catch {
      throw .badAnswer("no JSON document")
    }
  }

  /// The bytes of a text; nil where there is none, or an empty one.
  func secret(_ name: String) throws(OAuthError) -> SecretBytes? {
    let found: SecretBytes?
    switch content {
    case .json(let text):
      guard let node = try Self.node(text, name) else { return nil }
      found = text.secret(node)
      if found == nil { throw .badAnswer(name) }
    case .form(let form): found = try form.secret(name)
    }
    guard let found, found.count > 0 else { return nil }
    return found
  }

  /// A text that is no secret.
  func text(_ name: String) throws(OAuthError) -> String? {
    guard let secret = try secret(name) else { return nil }
    guard let text = secret.withBytes({ $0.text }) else { throw .badAnswer(name) }
    return text
  }

  /// The first of several names that is there.
  func text(_ names: String...) throws(OAuthError) -> String? {
    for name in names {
      if let text = try text(name) { return text }
    }
    return nil
  }

  /// A whole number that is not negative, also one that is written as text; a fraction is dropped.
  func number(_ name: String) throws(OAuthError) -> Int64? {
    var digits: String?
    switch content {
    case .json(let text):
      guard let node = try Self.node(text, name) else { return nil }
      digits = text.numberText(node) ?? text.string(node)
    case .form(let form): digits = try form.text(name)
    }
    guard let digits, !digits.isEmpty else { return nil }
    guard let number = Int64(digits.prefix { $0 != "." }), number >= 0 else {
      throw .badAnswer(name)
    }
    return number
  }

  private static func node(
    _ text: borrowing JSONText, _ name: String
  ) throws(OAuthError) -> JSONText.Node? {
    do throws(JSONError) {
      guard let node = try text.member(text.root, name), text.kind(node) != .null else {
        return nil
      }
      return node
    } catch {
      throw .badAnswer(name)
    }
  }
}
