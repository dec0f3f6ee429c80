/// Reads server-sent events (WHATWG HTML section 9.2.6) from the bytes of an answer.
struct EventStream: Sendable {
  /// One that was dispatched.
  struct Message: Sendable, Equatable {
    /// The last `id` so far.
    var id: String?
    var name: String
    var data: [UInt8]
  }

  /// Most bytes of one event.
  private static let limit = 4 << 20

  private var line: [UInt8] = []
  private var data: [UInt8] = []
  private var hasData = false
  private var name = ""
  private var endedWithReturn = false
  /// The last `id`, whose event may not be whole yet.
  private var readID: String?
  /// The `id` of what was read whole.
  private(set) var lastID: String?
  /// Milliseconds that the server wants a client to wait before it comes back.
  private(set) var retry: Int64?

  init(lastID: String?) {
    self.lastID = lastID
    readID = lastID
  }

  /// Takes bytes as they come.
  ///
  /// - Returns: The events that are whole with them; nil where one is too large to be one.
  mutating func take(_ bytes: [UInt8]) -> [Message]? {
    var messages: [Message] = []
    for byte in bytes {
      defer { endedWithReturn = byte == 0x0D }
      switch byte {
      case 0x0A where endedWithReturn: break
      case 0x0A, 0x0D: if let message = endLine() { messages.append(message) }
      default:
        line.append(byte)
        guard line.count + data.count <= Self.limit else { return nil }
      }
    }
    return messages
  }

  private mutating func endLine() -> Message? {
    defer { line.removeAll(keepingCapacity: true) }
    guard !line.isEmpty else { return dispatch() }
    let colon = line.firstIndex(of: 0x3A)
    // A comment, which keeps the connection alive.
    if colon == 0 { return nil }
    let field = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == 0x20 { value.removeFirst() }
    switch field {
    case "data":
      if hasData { data.append(0x0A) }
      data += value
      hasData = true
    case "event": name = String(decoding: value, as: UTF8.self)
    case "id": if !value.contains(0) { readID = String(decoding: value, as: UTF8.self) }
    case "retry":
      if let number = Int64(String(decoding: value, as: UTF8.self)), number >= 0 { retry = number }
    default: break
    }
    return nil
  }

  private mutating func dispatch() -> Message? {
    lastID = readID
    defer {
      name = ""
      data = []
      hasData = false
    }
    return hasData ? Message(id: lastID, name: name.isEmpty ? "message" : name, data: data) : nil
  }
}
