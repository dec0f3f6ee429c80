import Encoding
import JSON
import Sodium

/// A reply's body, read by what it looks like and never by its content type: many providers send a
/// form, HTML or JSON under another name.
struct ReplyBody: ~Copyable {
  /// The longest body that is read, in bytes.
  static let limit = 262_144

  enum Shape { case json, form, html, empty, other, tooLarge }

  enum Content: ~Copyable {
    case json(JSONText)
    case form(FormFields)
    case none
  }

  let shape: Shape
  let content: Content
  /// Why text that begins like JSON is none; it names no value.
  let jsonError: JSONError?

  init(_ body: RawSpan) {
    guard body.byteCount <= Self.limit else {
      (shape, jsonError) = (.tooLarge, nil)
      content = .none
      return
    }
    let range = Self.unwrapped(body)
    guard !range.isEmpty else {
      (shape, jsonError) = (.empty, nil)
      content = .none
      return
    }
    let inner = body.extracting(range)
    switch inner.byte(0) {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      do {
        content = .json(try JSONText(inner, maximumBytes: Self.limit))
        (shape, jsonError) = (.json, nil)
      } catch {
        content = .none
        (shape, jsonError) = (.other, error)
      }
    case UInt8(ascii: "<"):
      (shape, jsonError) = (.html, nil)
      content = .none
    default:
      jsonError = nil
      if let form = FormFields(body) {
        content = .form(form)
        shape = .form
      } else {
        content = .none
        shape = .other
      }
    }
  }

  /// The range of `body` without white space, a byte order mark and a wrapper like `callback( … );`.
  private static func unwrapped(_ body: RawSpan) -> Range<Int> {
    var start = 0
    var end = body.byteCount
    if end >= 3, body.byte(0) == 0xEF, body.byte(1) == 0xBB, body.byte(2) == 0xBF { start = 3 }
    func isSpace(_ offset: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(body.byte(offset)) }
    while start < end, isSpace(start) { start += 1 }
    while end > start, isSpace(end - 1) { end -= 1 }
    var name = start
    while name < end, name - start < 64 {
      let byte = body.byte(name)
      guard
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
          || (0x30...0x39).contains(byte) || byte == 0x5F
      else { break }
      name += 1
    }
    guard name > start, name < end, body.byte(name) == UInt8(ascii: "(") else { return start..<end }
    var last = end
    if body.byte(last - 1) == UInt8(ascii: ";") { last -= 1 }
    while last > name, isSpace(last - 1) { last -= 1 }
    guard last - 1 > name, body.byte(last - 1) == UInt8(ascii: ")") else { return start..<end }
    var first = name + 1
    last -= 1
    while first < last, isSpace(first) { first += 1 }
    while last > first, isSpace(last - 1) { last -= 1 }
    return first..<last
  }

  /// The values at `path` as text: texts, numbers as they are written, `true` and `false`. Each has the
  /// position of the element that `*` stood for.
  func texts(_ path: MemberPath) -> [(index: Int?, text: String)] {
    switch content {
    case .json(let json):
      var found: [(index: Int?, text: String)] = []
      for (index, node) in Self.nodes(json, path) {
        if let text = Self.scalar(json, node) { found.append((index, text)) }
      }
      return found
    case .form(let form):
      return form.text(path.description).map { [(nil, $0)] } ?? []
    case .none:
      return []
    }
  }

  /// The first text at the first of `paths` that is there.
  func text(_ paths: [MemberPath], element: Int? = nil) -> String? {
    for path in paths {
      let found = texts(path)
      if let match = found.first(where: { $0.index == nil || $0.index == element }) {
        return match.text
      }
    }
    return nil
  }

  /// Whether a member stands at `path`, whatever it holds, `null` excepted.
  func has(_ path: MemberPath) -> Bool {
    switch content {
    case .json(let json):
      for (_, node) in Self.nodes(json, path) where json.kind(node) != .null { return true }
      return false
    case .form(let form): return form.count(of: path.description) > 0
    case .none: return false
    }
  }

  static func scalar(_ json: borrowing JSONText, _ node: JSONText.Node) -> String? {
    switch json.kind(node) {
    case .string: json.string(node)
    case .number: json.numberText(node)
    case .bool: json.bool(node).map { $0 ? "true" : "false" }
    default: nil
    }
  }

  static func nodes(
    _ json: borrowing JSONText, _ path: MemberPath
  ) -> [(index: Int?, node: JSONText.Node)] {
    var found: [(index: Int?, node: JSONText.Node)] = [(nil, json.root)]
    for step in path.steps {
      var next: [(index: Int?, node: JSONText.Node)] = []
      for (index, node) in found {
        switch step {
        case .member(let name):
          guard json.kind(node) == .object else { continue }
          if let member = json.members(node).first(where: { $0.name == name }) {
            next.append((index, member.node))
          }
        case .each:
          guard json.kind(node) == .array else { continue }
          for (position, element) in json.elements(node).prefix(64).enumerated() {
            next.append((index ?? position, element))
          }
        }
      }
      found = next
    }
    return found
  }
}
