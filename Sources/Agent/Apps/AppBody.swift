internal import Faults
internal import JSON
internal import Listener
internal import Providers
internal import Sodium
internal import Synchronization

/// The JSON object in an app's request, held against the members that it may have.
struct AppBody: Sendable {
  /// Bytes; more is answered 413.
  static let limit = 64 << 10

  private let members: [JSONValue.Member]

  /// - Parameter names: The members that are known; another one is refused by its name.
  /// - Throws: ``VaultError``: `usage`, which names the member that is wrong.
  init(of request: SocketServer.Request, names: [String]) throws(VaultError) {
    guard request.body.count > 0 else {
      members = []
      return
    }
    let value = try BodyMemory.shared.value(of: request.body)
    guard case .object(let members) = value else {
      throw .wrongBody("the body is no JSON object")
    }
    for member in members where !names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) })
    {
      throw .wrongBody("there is no member \"\(ProviderText.safe(member.name, limit: 60))\"")
    }
    self.members = members
  }

  private func value(_ name: String) -> JSONValue? {
    members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// A text of so many characters; nil where it is not there.
  func text(_ name: String, in range: ClosedRange<Int> = 1...300) throws(VaultError) -> String? {
    switch value(name) {
    case nil: return nil
    case .string(let text):
      try Self.check(text, name, range)
      return text
    default: throw .wrongBody("\(name) is no text")
    }
  }

  private static func check(
    _ text: String, _ name: String, _ range: ClosedRange<Int>
  ) throws(VaultError) {
    guard range.contains(text.unicodeScalars.count) else {
      throw .wrongBody("\(name) has \(range.lowerBound) to \(range.upperBound) characters")
    }
  }

  /// A text that must be there.
  func need(_ name: String, in range: ClosedRange<Int> = 1...300) throws(VaultError) -> String {
    guard let text = try text(name, in: range) else {
      throw .wrongBody("\(name) is missing")
    }
    return text
  }

  /// One of some words; nil where it is not there.
  func word<Word: RawRepresentable<String>>(
    _ name: String, _ word: Word.Type, but refused: [Word] = []
  ) throws(VaultError) -> Word? where Word: Equatable {
    switch value(name) {
    case nil: return nil
    case .string(let text):
      guard let word = Word(rawValue: text), !refused.contains(word) else {
        throw .wrongBody("\(name) is none of the words that it takes")
      }
      return word
    default: throw .wrongBody("\(name) is no text")
    }
  }

  func flag(_ name: String) throws(VaultError) -> Bool {
    switch value(name) {
    case nil: return false
    case .bool(let flag): return flag
    default: throw .wrongBody("\(name) is neither true nor false")
    }
  }

  /// The names of permissions, each once, in their order; none where they are not there.
  func permissions(_ name: String = "permissions") throws(VaultError) -> [String] {
    switch value(name) {
    case nil: return []
    case .array(let elements):
      guard elements.count <= 100 else { throw .wrongBody("\(name) has at most 100 names") }
      var names: [String] = []
      for element in elements {
        guard case .string(let text) = element else {
          throw .wrongBody("\(name) holds what is no text")
        }
        try Self.check(text, name, 1...256)
        if !names.contains(where: { $0.utf8.elementsEqual(text.utf8) }) { names.append(text) }
      }
      return names
    default: throw .wrongBody("\(name) is no list")
    }
  }
}

/// The last small bodies that were read: a program asks for the same thing over and over, and reading
/// a text is most of what such a request costs. What is kept depends on the bytes alone.
private final class BodyMemory: Sendable {
  static let shared = BodyMemory()
  private static let bytes = 256
  private static let limit = 256

  private let known = Mutex<[[UInt8]: JSONValue]>([:])

  func value(of body: SharedSecret) throws(VaultError) -> JSONValue {
    guard body.count <= Self.bytes else { return try Self.parse(body) }
    // The bytes are lent for the call, and copied.
    let key = body.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    if let value = known.withLock({ $0[key] }) { return value }
    let value = try Self.parse(body)
    known.withLock { known in
      if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
      known[key] = value
    }
    return value
  }

  private static func parse(_ body: SharedSecret) throws(VaultError) -> JSONValue {
    do throws(JSONError) {
      return try body.withBytes { (bytes) throws(JSONError) in
        let text = try JSONText(bytes, maximumBytes: AppBody.limit)
        return try JSONValue(text.root, of: text)
      }
    } catch {
      switch error {
      case .duplicateMember(let name):
        throw .wrongBody("the member \"\(ProviderText.safe(name, limit: 60))\" is there twice")
      default: throw .wrongBody("the body is no JSON that is read here")
      }
    }
  }
}

extension VaultError {
  static func wrongBody(_ message: String) -> VaultError {
    VaultError(.usage, message, hint: "curl --unix-socket apps.sock http://vault/v1/openapi.json")
  }
}
