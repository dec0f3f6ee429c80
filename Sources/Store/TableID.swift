package import Encoding
package import Sodium

/// The tables that hold sealed rows. The raw value is part of every row's place, and never changes
/// its meaning.
package enum TableID: UInt8, CaseIterable, Sendable {
  case account = 1
  case label = 2
  case credential = 3
  case client = 4
  case app = 5
  case standing = 6
  case ask = 7
  case definition = 8
  /// What a credential's renewal has come to; its `due` is what the engine walks.
  case renewal = 9
  /// Tokens that are still to be revoked at their providers.
  case revocation = 10
  /// What all requests of one client to one provider share: backoff and alarms.
  case pace = 11

  package var name: String {
    switch self {
    case .account: "account"
    case .label: "label"
    case .credential: "credential"
    case .client: "client"
    case .app: "app"
    case .standing: "standing"
    case .ask: "ask"
    case .definition: "definition"
    case .renewal: "renewal"
    case .revocation: "revocation"
    case .pace: "pace"
    }
  }

  /// Where the table stands in arrays that hold one value for each.
  var position: Int { Int(rawValue) - 1 }

  /// To which multiple of bytes a sealed overview is padded, so that its length says little.
  var overviewBlock: Int { 64 }
}

/// A row as the store hands it out: the overview opened, the secret still sealed.
package struct Row: Sendable {
  package var key: Key16
  /// How many times the overview was written; bound into its seal.
  package var version: Int64
  /// How many times the secret was written; bound into its seal.
  package var generation: Int64
  /// The day (since 1970, UTC) on which the row was last written.
  package var day: Int64
  /// When the engine should look, in hours since 1970; 0 for never. A hint, checked against the
  /// overview by whoever uses it.
  package var due: Int64
  package var overview: [UInt8]
  /// Nonce, ciphertext and tag; empty where the row has no secret.
  package var sealedSecret: [UInt8]
}

/// What a write does with the row's secret.
package enum SecretChange: ~Copyable {
  case keep
  case remove
  case replace(SecretBytes)
}
