import Encoding
import Faults
import Sodium
import Store
import TamperSupport

/// Rows of the tables that the library does not read yet: sealed and in the tree like all others, so
/// that a hand on them is found like any other.
enum UnreadRows {
  static let tables: [TableID] = [.renewal, .revocation, .pace]

  /// Whether a row of the file is a node of one of these tables' trees.
  static func isNode(_ table: String, _ row: String) -> Bool {
    guard table == "node", let place = Int64(row) else { return false }
    return tables.contains { Int64($0.rawValue) == place >> 48 }
  }

  /// Writes a row of each name into each of the tables, by the store alone; a row that is there gets
  /// its next version.
  static func put(into sample: SampleVault, _ names: [String]) throws(VaultError) {
    var key = [UInt8](repeating: SampleVault.key, count: 32)
    let store = try VaultFile(opening: sample.path).unlock(
      with: .keyFile(SecretBytes(wiping: &key)))
    try store.write { () throws(VaultError) in
      for table in tables {
        for name in names {
          let bytes = Array("\(table.name) \(name)".utf8)
          var secret = bytes
          try store.put(
            table, Key16(Array(BLAKE2b.digest32(bytes).bytes.prefix(16))), overview: bytes,
            secret: .replace(SecretBytes(wiping: &secret)), due: table == .renewal ? 497_000 : 0,
            day: 20_700)
        }
      }
    }
  }
}
