import Accounts
import Encoding
import Faults
import Sodium
import Store
import TamperSupport
import Time

/// Rows of the tables that nothing but a network fills: sealed and in the tree like all others, so that
/// a hand on them is found like any other. None is due before the year 2100, so nothing reads them by
/// itself.
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
          let key = Key16(
            Array(BLAKE2b.digest32(Array("\(table.name) \(name)".utf8)).bytes.prefix(16)))
          var secret = Array("a secret of \(name)".utf8)
          try store.put(
            table, key, overview: overview(table, key, name),
            secret: .replace(
              RevocationSecret(
                credential: CredentialSecret(accessToken: SecretBytes(wiping: &secret))
              ).packed()),
            due: table == .renewal ? far.seconds / 3600 : 0, day: 20_700)
        }
      }
    }
  }

  /// The first day of 2100.
  private static let far = Timestamp(seconds: 4_102_444_800)

  /// A record of the table, as the library writes it.
  private static func overview(_ table: TableID, _ key: Key16, _ name: String) -> [UInt8] {
    switch table {
    case .renewal:
      var record = RenewalRecord(account: AccountID(key), clientID: name, generation: 1)
      record.lookAt = far
      return record.bytes
    case .revocation:
      return PendingRevocation(
        id: key, type: "facebook", clientID: name, account: AccountID(key), username: name,
        userID: nil, kind: .oauth2, tokenType: "bearer", generation: 1, accessEndsAt: nil,
        hasRefreshToken: true, cause: .replaced, createdAt: far
      ).bytes
    default:
      return ClientPace(type: "facebook", clientID: name).bytes
    }
  }
}
