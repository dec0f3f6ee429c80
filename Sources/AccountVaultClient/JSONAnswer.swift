internal import FoundationEssentials
internal import UnixSocket

/// The agent's answers as values.
enum JSONAnswer {
  /// The copy that is read is overwritten; the reader's own pieces of it are not, a token's text among
  /// them, which stays in freed memory until that is used again.
  static func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: borrowing WipedBytes
  ) throws -> Value {
    var data = Data(capacity: bytes.count)
    bytes.withSpan { bytes in
      for index in bytes.indices { data.append(bytes[index]) }
    }
    defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
    return try JSONDecoder().decode(type, from: data)
  }

  static func encode(_ value: some Encodable) throws(AgentError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    do { return Array(try encoder.encode(value)) } catch {
      throw AgentError(.usage, .setup, "the request cannot be written as JSON")
    }
  }
}
