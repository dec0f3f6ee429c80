/// `vectors.json` of the shared cases, of which these primitives serve some kinds.
struct Vectors: Decodable {
  let vectors: [Vector]

  struct Vector: Decodable {
    let name: String
    let kind: String
    let inputs: [String: Value]
    let expected: Value

    /// The input by this name as text.
    func text(_ name: String) throws -> String {
      guard case .text(let text) = inputs[name] else { throw Missing(name: name) }
      return text
    }

    /// The input by this name as bytes, written as numbers.
    func octets(_ name: String) throws -> [UInt8] {
      guard case .octets(let octets) = inputs[name] else { throw Missing(name: name) }
      return octets
    }

    /// What is expected: the whole, or one part of it.
    func expectedText(_ name: String? = nil) throws -> String {
      switch (expected, name) {
      case (.text(let text), nil): return text
      case (.fields(let fields), let name?):
        guard let text = fields[name] else { throw Missing(name: name) }
        return text
      default: throw Missing(name: name ?? "expected")
      }
    }
  }

  enum Value: Decodable {
    case text(String)
    case octets([UInt8])
    case fields([String: String])
    case other

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if let octets = try? value.decode([UInt8].self) {
        self = .octets(octets)
      } else if let fields = try? value.decode([String: String].self) {
        self = .fields(fields)
      } else {
        self = .other
      }
    }
  }

  struct Missing: Error {
    let name: String
  }

  static func of(_ kind: String) throws -> [Vector] {
    try SharedCases.read(Vectors.self, "vectors.json").vectors.filter { $0.kind == kind }
  }
}
