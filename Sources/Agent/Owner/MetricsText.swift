/// Text in the format that Prometheus reads, version 0.0.4.
struct MetricsText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  enum Kind: String {
    case counter
    case gauge
  }

  typealias Labels = KeyValuePairs<String, String>

  private(set) var text = ""

  /// One metric with its values, each under its labels.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ values: [(Labels, Number)]) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    for (labels, value) in values {
      let shown = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      text += shown.isEmpty ? "\(name) \(value)\n" : "\(name){\(shown)} \(value)\n"
    }
  }

  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Number) {
    add(name, kind, help, [([:] as Labels, value)])
  }

  private static func escaped(_ value: String) -> String {
    var escaped = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A value as it is written.
  struct Number: CustomStringConvertible, ExpressibleByIntegerLiteral {
    let description: String

    init(_ value: some BinaryInteger) { description = "\(value)" }

    init(_ value: Bool) { description = value ? "1" : "0" }

    init(integerLiteral value: Int) { self.init(value) }

    /// Hundredths.
    init(hundredths value: UInt64) {
      let rest = value % 100
      description = "\(value / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
  }
}
