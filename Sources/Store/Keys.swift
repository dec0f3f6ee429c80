import Encoding
import Faults
package import Sodium

/// The keys of an unlocked vault. They are wiped when the value goes.
///
/// `VK → crypto_kdf → rows, ledger, state, tree`. What must survive a new vault key is random of its
/// own and sealed under it, in the keyring.
package struct Keys: ~Copyable {
  let vaultKey: SecretBytes
  let epoch: UInt64
  let rows: SecretBytes
  let ledger: SecretBytes
  let stateCode: SecretBytes
  let tree: SecretBytes

  init(vaultKey: consuming SecretBytes, epoch: UInt64) {
    rows = KeyDerivation.subkey(1, KeyContext("vltrows_"), from: vaultKey)
    ledger = KeyDerivation.subkey(1, KeyContext("vltledgr"), from: vaultKey)
    stateCode = KeyDerivation.subkey(1, KeyContext("vltstate"), from: vaultKey)
    tree = KeyDerivation.subkey(2, KeyContext("vltstate"), from: vaultKey)
    self.vaultKey = vaultKey
    self.epoch = epoch
  }
}

/// What survives a new vault key: random bytes and settings, sealed under the vault's key.
package struct Keyring: ~Copyable {
  /// Makes the keys of look-ups; whoever had it could test guesses of names, no more.
  package let blind: SecretBytes
  /// Makes the hashes of app keys.
  package let appKeys: SecretBytes
  /// Signs the ledger's head.
  package let signing: SigningKey
  package let publicKey: [UInt8]
  package var anchor: AnchorPolicy

  private enum Tag {
    static let blind: UInt8 = 1
    static let appKeys: UInt8 = 2
    static let seed: UInt8 = 3
    static let anchor: UInt8 = 4
  }

  static func new(anchor: AnchorPolicy) -> Keyring {
    Keyring(
      blind: .random(count: 32), appKeys: .random(count: 32), seed: .random(count: 32),
      anchor: anchor)
  }

  private init(
    blind: consuming SecretBytes, appKeys: consuming SecretBytes, seed: consuming SecretBytes,
    anchor: AnchorPolicy
  ) {
    self.blind = blind
    self.appKeys = appKeys
    signing = SigningKey(seed: seed)
    publicKey = signing.publicKey
    self.anchor = anchor
  }

  func sealed(vault: Key16, keys: borrowing Keys) -> [UInt8] {
    var out = SecretWriter(capacity: 512)
    out.field(Tag.blind, blind)
    out.field(Tag.appKeys, appKeys)
    out.field(Tag.seed, signing.seed)
    let policy = anchor.encoded
    // The array lives through the call.
    unsafe out.field(Tag.anchor, policy.span.bytes)
    let plaintext = out.finish()
    let associated = Associated.keyring(vault: vault, epoch: keys.epoch)
    return AEAD.seal(plaintext, associated: associated, key: keys.vaultKey)
  }

  static func open(_ box: [UInt8], vault: Key16, keys: borrowing Keys) throws(VaultError) -> Keyring
  {
    let associated = Associated.keyring(vault: vault, epoch: keys.epoch)
    do throws(SodiumError) {
      let fields = try AEAD.open(box, associated: associated, key: keys.vaultKey)
      guard let blind = try SecretFields.field(Tag.blind, of: fields),
        let appKeys = try SecretFields.field(Tag.appKeys, of: fields),
        let seed = try SecretFields.field(Tag.seed, of: fields),
        let anchor = try SecretFields.field(Tag.anchor, of: fields)
      else { throw .badEncoding }
      guard let policy = AnchorPolicy(decoding: anchor.withBytes { bytes(of: $0) }) else {
        throw .badEncoding
      }
      return Keyring(blind: blind, appKeys: appKeys, seed: seed, anchor: policy)
    } catch {
      throw .damagedState("the keyring cannot be opened")
    }
  }
}

/// Whether a head is kept outside the file, and where.
package struct AnchorPolicy: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    /// A missing head is taken anew, with a warning and an entry.
    case adopt = 1
    /// A missing head refuses everything but looking.
    case required = 2
    /// No head is kept: a file put back to an older copy is not found.
    case none = 3
  }

  package var kind: Kind
  /// Where the head is, or nil for the place that the caller gives (`${XDG_STATE_HOME}`).
  package var path: String?

  package init(_ kind: Kind, path: String? = nil) {
    self.kind = kind
    self.path = path
  }

  var encoded: [UInt8] {
    var out = Writer(capacity: 64)
    out.u8(kind.rawValue)
    out.optional(path)
    return out.bytes
  }

  init?(decoding bytes: [UInt8]) {
    do throws(EncodingError) {
      var from = Reader(bytes)
      guard let kind = Kind(rawValue: try from.u8()) else { return nil }
      self.kind = kind
      path = try from.optionalText()
      try from.end()
    } catch {
      return nil
    }
  }
}

/// The bytes of a span as an array of their own.
package func bytes(of span: RawSpan) -> [UInt8] {
  unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
}
