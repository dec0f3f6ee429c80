import Providers
import Testing

/// One row of a provider's documented refusals, as a reply of it and what that must mean.
struct CatalogueCase {
  var status: Int
  var body: String
  var headers: [(name: String, value: String)] = []
  var from = Endpoint.api
  var canRenew = true
  /// Nil where the reply is no refusal.
  var expected: ErrorClass?

  init(
    _ status: Int, _ body: String, from: Endpoint = .api,
    headers: [(name: String, value: String)] = [], canRenew: Bool = true, _ expected: ErrorClass?
  ) {
    self.status = status
    self.body = body
    self.headers = headers
    self.from = from
    self.canRenew = canRenew
    self.expected = expected
  }

  /// Plays the rows through the catalogue of `provider`.
  static func play(
    _ rows: [CatalogueCase], _ provider: Provider, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for row in rows {
      let found = meaning(
        provider, row.status, row.body, headers: row.headers, from: row.from,
        canRenew: row.canRenew)
      #expect(
        found?.errorClass == row.expected, "\(row.status) \(row.body) from \(row.from)",
        sourceLocation: sourceLocation)
    }
  }
}

func error(_ code: String, _ description: String? = nil) -> String {
  let more = description.map { #","error_description":"\#($0)""# } ?? ""
  return #"{"error":"\#(code)"\#(more)}"#
}
