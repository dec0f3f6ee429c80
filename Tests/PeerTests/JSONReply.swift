import Foundation

/// A JSON text as it came from the command or a peer.
struct JSONReply: CustomStringConvertible {
  struct Malformed: Error, CustomStringConvertible { var description: String }

  private let value: Any?

  private init(value: Any?) { self.value = value is NSNull ? nil : value }

  /// The last line that is not empty.
  init(_ text: String) throws {
    guard let line = text.split(separator: "\n").last,
      let value = try? JSONSerialization.jsonObject(
        with: Data(line.utf8), options: [.fragmentsAllowed])
    else { throw Malformed(description: "no JSON: \(text)") }
    self.init(value: value)
  }

  /// The whole text, over several lines.
  init(whole text: String) throws {
    guard
      let value = try? JSONSerialization.jsonObject(
        with: Data(text.utf8), options: [.fragmentsAllowed])
    else { throw Malformed(description: "no JSON: \(text)") }
    self.init(value: value)
  }

  /// A member; null where there is none.
  subscript(_ name: String) -> JSONReply {
    JSONReply(value: (value as? [String: Any])?[name])
  }

  subscript(_ index: Int) -> JSONReply {
    let all = list
    return all.indices.contains(index) ? all[index] : JSONReply(value: nil)
  }

  var text: String? { value as? String }
  var number: Int? { value as? Int }
  var bool: Bool? { value as? Bool }
  var isNull: Bool { value == nil }
  var list: [JSONReply] { (value as? [Any] ?? []).map(JSONReply.init(value:)) }
  var texts: [String] { list.compactMap(\.text) }

  /// JSON again.
  var source: String {
    let data = value.flatMap {
      try? JSONSerialization.data(withJSONObject: $0, options: [.fragmentsAllowed])
    }
    return String(decoding: data ?? Data("null".utf8), as: UTF8.self)
  }

  var description: String { value.map { "\($0)" } ?? "null" }
}
