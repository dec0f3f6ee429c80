package import Sodium

/// A parsed JSON document (RFC 8259), for what a stranger or a person wrote.
///
/// Members keep their order and their duplicates, numbers their digits. Every string lies in memory
/// that is wiped, so that a token in a response never becomes a `String` on the way to
/// ``secret(_:)``.
package struct JSONText: ~Copyable {
  /// Arrays and objects in each other, at most. SQLite's own bound is 2000.
  package static let maximumDepth = 128

  /// One value of the document that made it. Given to another document it shows that one's values.
  package struct Node: Hashable, Sendable {
    fileprivate let index: Int32
  }

  package enum Kind: Sendable {
    case object, array, string, number, bool, null
  }

  private struct Entry {
    var kind: Kind
    /// For a bool, its value.
    var isTrue = false
    var parent: Int32
    /// One past the last entry that is in this one.
    var end: Int32
    /// In `store`; nil for an element of an array and for the root.
    var name: Range<Int32>?
    /// In `store`: a string's UTF-8, a number's digits as they were written.
    var content: Range<Int32> = 0..<0
  }

  /// Every value before what is in it, in the text's order.
  private let entries: [Entry]

  private let store: JSONStore

  /// Parses `text`.
  ///
  /// - Parameter maximumBytes: Of the text; a longer one is ``JSONError/tooLarge`` at once.
  /// - Throws: ``JSONError/tooDeep`` beyond ``maximumDepth``; ``JSONError/malformed(_:)`` for what is
  ///   no JSON, and for bytes that are not UTF-8, a NUL in any form, and half a surrogate pair.
  package init(_ text: RawSpan, maximumBytes: Int = 262_144) throws(JSONError) {
    guard text.byteCount <= min(maximumBytes, Int(Int32.max)) else { throw .tooLarge }
    let numbers = try JSONScan.numbers(in: text, maximumDepth: Self.maximumDepth)
    // Without its quotation marks and escapes a string is never longer than it was written.
    var store = JSONStore(capacity: text.byteCount)
    var entries: [Entry] = []
    var nextNumber = 0
    // The arrays and objects that the walk is in, with their places in `entries`.
    var open: [(id: Int64, index: Int32)] = []
    try JSONTree.walk(text) { row throws(JSONError) in
      let index = Int32(entries.count)
      let parent = row.parent
      while let last = open.last, last.id != parent {
        entries[Int(last.index)].end = index
        open.removeLast()
      }
      var entry = Entry(kind: .null, parent: open.last?.index ?? 0, end: index + 1)
      if row.hasName { entry.name = row.withName { store.append($0) } }
      switch row.type {
      case "object": entry.kind = .object
      case "array": entry.kind = .array
      case "text":
        entry.kind = .string
        entry.content = row.withText { store.append($0) }
      case "integer", "real":
        guard nextNumber < numbers.count else { throw .malformed("a number out of place") }
        entry.kind = .number
        entry.content = store.append(text.extracting(numbers[nextNumber]))
        nextNumber += 1
      case "true":
        entry.kind = .bool
        entry.isTrue = true
      case "false": entry.kind = .bool
      default: entry.kind = .null
      }
      if entry.kind == .object || entry.kind == .array { open.append((row.id, index)) }
      entries.append(entry)
    }
    for last in open { entries[Int(last.index)].end = Int32(entries.count) }
    guard nextNumber == numbers.count else { throw .malformed("a number out of place") }
    self.entries = entries
    self.store = store
  }

  // MARK: Reading

  package var root: Node { Node(index: 0) }

  package borrowing func kind(_ node: Node) -> Kind { entry(node).kind }

  /// An object's members in the text's order, duplicates kept; none for any other kind.
  package borrowing func members(_ node: Node) -> [(name: String, node: Node)] {
    guard kind(node) == .object else { return [] }
    return children(node).map { (name($0), $0) }
  }

  /// An array's elements in order; none for any other kind.
  package borrowing func elements(_ node: Node) -> [Node] {
    kind(node) == .array ? children(node) : []
  }

  /// The member of an object by its name, byte for byte; nil when there is none.
  ///
  /// - Throws: ``JSONError/duplicateMember(_:)`` when there are two,
  ///   ``JSONError/wrongType(path:)`` when `node` is no object.
  package borrowing func member(_ node: Node, _ name: String) throws(JSONError) -> Node? {
    guard kind(node) == .object else { throw .wrongType(path: path(node)) }
    var found: Node?
    for child in children(node) where entry(child).name.map({ store.holds(name, at: $0) }) == true {
      if found != nil { throw .duplicateMember(name) }
      found = child
    }
    return found
  }

  /// A string's text; nil for any other kind. Not for secrets: a `String` is never wiped.
  package borrowing func string(_ node: Node) -> String? {
    kind(node) == .string ? store.text(entry(node).content) : nil
  }

  /// A string's bytes as UTF-8, without ever being a `String`; nil for any other kind.
  package borrowing func secret(_ node: Node) -> SecretBytes? {
    kind(node) == .string ? store.secret(entry(node).content) : nil
  }

  /// A number as it was written, so that a 64-bit id keeps its digits and 1e400 is no infinity; nil
  /// for any other kind.
  package borrowing func numberText(_ node: Node) -> String? {
    kind(node) == .number ? store.text(entry(node).content) : nil
  }

  /// Nil for any other kind.
  package borrowing func bool(_ node: Node) -> Bool? {
    kind(node) == .bool ? entry(node).isTrue : nil
  }

  /// Where a value stands, for an error: `$.data[0].id`.
  package borrowing func path(_ node: Node) -> String {
    if node.index == 0 { return "$" }
    let parent = Node(index: entry(node).parent)
    if kind(parent) == .object { return "\(path(parent)).\(name(node))" }
    let place = children(parent).firstIndex(of: node) ?? 0
    return "\(path(parent))[\(place)]"
  }

  private borrowing func entry(_ node: Node) -> Entry { entries[Int(node.index)] }

  private borrowing func children(_ node: Node) -> [Node] {
    var nodes: [Node] = []
    var next = node.index + 1
    let end = entry(node).end
    while next < end {
      nodes.append(Node(index: next))
      next = entries[Int(next)].end
    }
    return nodes
  }

  private borrowing func name(_ node: Node) -> String {
    entry(node).name.map { store.text($0) } ?? ""
  }
}
