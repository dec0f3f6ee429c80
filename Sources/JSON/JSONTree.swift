internal import SQLite
internal import Synchronization

/// SQLite's parser: `json_tree` over one text, in a database of its own in memory.
///
/// One connection serves the whole process, since a connection costs more than most texts do. Between
/// two texts it holds nothing of either: the statement is reset and what was bound is dropped, and
/// that heap wipes (``SQLiteAllocator``).
///
/// Sendable as it has one owner at a time: the statement and its connection never leave it, and SQLite
/// lets them go from thread to thread.
struct JSONTree: ~Copyable, @unchecked Sendable {
  private let statement: Statement

  private static let shared = Mutex<JSONTree?>(nil)

  /// One value on the walk. Valid only until the walk goes on.
  struct Row: ~Copyable {
    fileprivate let statement: Statement

    /// Ascending along the walk.
    var id: Int64 { statement.int(0) }

    /// The id of the array or object that holds it; nil for the root.
    var parent: Int64? { statement.isNull(1) ? nil : statement.int(1) }

    /// True for a member of an object, false for an element of an array.
    var hasName: Bool { statement.type(2) == .text }

    /// SQLite's word: object, array, text, integer, real, true, false or null.
    var type: String { statement.text(3) ?? "" }

    /// Lends the member's name, its escapes undone.
    func withName<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
      try statement.withBlob(2, body)
    }

    /// Lends a string's bytes as UTF-8, its escapes undone, from SQLite's own memory.
    func withText<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
      try statement.withBlob(4, body)
    }
  }

  private init() throws(SQLiteError) {
    let connection = try Connection.inMemory()
    // SQLite from 3.42 on reads JSON5 in json_tree; json_valid keeps to RFC 8259 in every version.
    // It is evaluated once, before the walk.
    statement = try connection.prepare(
      "SELECT id, parent, key, type, atom FROM json_tree(?1) WHERE json_valid(?1)")
  }

  /// Parses `text` and hands every value to `visit`, each before what is in it, in the text's order.
  ///
  /// - Throws: ``JSONError/malformed(_:)`` when it is no JSON.
  static func walk(
    _ text: RawSpan, _ visit: (borrowing Row) throws(JSONError) -> Void
  ) throws(JSONError) {
    // While it is in use another thread finds none and makes one of its own, so nobody waits for a
    // long text; the last one given back is kept.
    var idle = shared.withLock { $0.take() }
    if idle == nil { idle = try make() }
    defer { shared.withLock { $0 = idle.take() } }
    try idle?.walk(text, visit)
  }

  private static func make() throws(JSONError) -> JSONTree {
    do {
      return try JSONTree()
    } catch {
      throw .malformed("the parser cannot start: \(error.text)")
    }
  }

  private borrowing func walk(
    _ text: RawSpan, _ visit: (borrowing Row) throws(JSONError) -> Void
  ) throws(JSONError) {
    defer {
      statement.reset()
      statement.clearBindings()
    }
    statement.bind(1, utf8: text)
    var isEmpty = true
    while try step() {
      isEmpty = false
      try visit(Row(statement: statement))
    }
    if isEmpty { throw .malformed("not JSON") }
  }

  private borrowing func step() throws(JSONError) -> Bool {
    do {
      return try statement.step()
    } catch {
      throw .malformed(error.code == 1 ? "not JSON" : "the parser failed: \(error.text)")
    }
  }
}
