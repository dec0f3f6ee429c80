import TamperSupport

/// What verification may say, and which probes must refuse, for each column of each table.
///
/// Every table and column of the file stands here; the suite holds the list against the file.
struct Matrix {
  /// Reasons that `verify` may give.
  var reasons: Set<String>
  /// Probes of which at least one meets the row and must refuse it.
  var readers: Set<Probe>

  /// The columns of a table of sealed rows.
  static let rowColumns = ["key", "version", "generation", "day", "due", "overview", "secret"]

  static let tables: [String: [String: Matrix]] = {
    func rows(_ readers: Set<Probe>) -> [String: Matrix] {
      Dictionary(
        uniqueKeysWithValues: rowColumns.map {
          ($0, Matrix(reasons: ["damaged_row"], readers: readers))
        })
    }
    let ledger = Matrix(reasons: ["damaged_ledger"], readers: [.history])
    let slot = Matrix(reasons: ["damaged_slot"], readers: Set(Probe.allCases))
    let state = Matrix(
      reasons: ["damaged_state", "damaged_slot", "damaged_file"], readers: Set(Probe.allCases))
    let tree = Matrix(reasons: ["damaged_row", "damaged_state"], readers: Set(Probe.allCases))
    return [
      "account": rows([.accounts, .credentials, .access]),
      "label": rows([.lestat, .armand]),
      "credential": rows([.credentials]),
      "client": rows([.clients]),
      "app": rows([.apps]),
      "standing": rows([.access]),
      "ask": rows([.asks]),
      "definition": rows([.providers]),
      // Nothing reads a row of these yet.
      "renewal": rows([]),
      "revocation": rows([]),
      "pace": rows([]),
      "entry": [
        "number": ledger, "leaf": ledger, "body": ledger,
        // The hashes of an entry are asked for only by the proofs that lead over it.
        "hashes": Matrix(reasons: ["damaged_ledger"], readers: []),
      ],
      "node": ["place": tree, "content": tree],
      "slot": ["id": slot, "body": slot, "box": slot],
      "state": ["id": state, "body": state, "keyring": state, "code": state],
    ]
  }()

  /// The column that says which row it is.
  static func key(of table: String) -> String {
    switch table {
    case "entry": "number"
    case "node": "place"
    case "slot", "state": "id"
    default: "key"
    }
  }
}
