import Testing

/// One vector of `vectors.json` of the shared cases.
public struct SharedVector: Decodable, Sendable, CustomTestStringConvertible {
  public let name: String
  public let kind: String
  public let status: String
  public let inputs: Value
  public let expected: Value

  public var testDescription: String { name }

  private struct File: Decodable {
    let count: Int
    let vectors: [SharedVector]
  }

  /// All of them; none where the shared cases are absent. Nil for a kind means any.
  public static func all(_ kinds: Set<String>? = nil) -> [SharedVector] {
    guard SharedCases.arePresent, let file = try? SharedCases.read(File.self, "vectors.json"),
      file.vectors.count == file.count
    else { return [] }
    return file.vectors.filter { kinds?.contains($0.kind) ?? true }
  }

  /// Any JSON value.
  public indirect enum Value: Decodable, Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Int)
    case text(String)
    case list([Value])
    case object([String: Value])

    public init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let bool = try? value.decode(Bool.self) {
        self = .bool(bool)
      } else if let number = try? value.decode(Int.self) {
        self = .number(number)
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if let list = try? value.decode([Value].self) {
        self = .list(list)
      } else {
        self = .object(try value.decode([String: Value].self))
      }
    }

    /// A member; null where there is none.
    public subscript(_ name: String) -> Value {
      if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    public var text: String? {
      if case .text(let text) = self { text } else { nil }
    }

    public var number: Int? {
      if case .number(let number) = self { number } else { nil }
    }

    public var list: [Value] {
      if case .list(let list) = self { list } else { [] }
    }
  }
}
