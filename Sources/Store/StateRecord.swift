package import Encoding
package import Faults

/// The body of the one state row, in the clear; its code stands beside it.
///
/// Everything that a row's own seal cannot say hangs here: which rows there are, at which version,
/// how long the ledger is, under which key epoch.
package struct StateRecord: Equatable, Sendable {
  package static let version: UInt8 = 1

  package struct Table: Equatable, Sendable {
    package var rows: UInt64 = 0
    /// How many levels of 64 branches stand above the leaves.
    package var depth: UInt8 = 0
    package var root: Key16 = .zero
  }

  package var vault: Key16
  /// Grows by one with every write transaction; never goes back.
  package var counter: UInt64 = 0
  package var keyEpoch: UInt64 = 1
  /// The ledger's branch: a new one begins where the history was put back on purpose.
  package var branch: Key16
  /// The file stands on a network file system: rollback journal and exclusive locking.
  package var isOnNetworkFileSystem = false
  /// The file is a backup: it can be looked at and restored, and is not used as it is. Whoever used
  /// it would move the head of the vault that it was made of.
  package var isBackup = false
  /// The day of creation, since 1970 in UTC.
  package var createdDay: Int64
  /// A keyed hash of the machine's id, or zero where it has none.
  package var machine: Key16 = .zero
  package var slots: Key16 = .zero
  package var schema: Key16 = .zero
  package var ledgerSize: UInt64 = 0
  package var ledgerRoot: Digest32 = .zero
  /// The peaks of the ledger's tree, as its part of the library writes them.
  package var frontier: [UInt8] = []
  package var tables = [Table](repeating: Table(), count: TableID.allCases.count)

  package init(vault: Key16, branch: Key16, createdDay: Int64) {
    self.vault = vault
    self.branch = branch
    self.createdDay = createdDay
  }

  package subscript(_ table: TableID) -> Table {
    get { tables[table.position] }
    set { tables[table.position] = newValue }
  }

  func encoded() -> [UInt8] {
    var out = Writer(capacity: 1024)
    out.u8(Self.version)
    out.key(vault)
    out.u64(counter)
    out.u64(keyEpoch)
    out.key(branch)
    out.u8((isOnNetworkFileSystem ? 1 : 0) | (isBackup ? 2 : 0))
    out.i64(createdDay)
    out.key(machine)
    out.key(slots)
    out.key(schema)
    out.u64(ledgerSize)
    out.raw(ledgerRoot.bytes)
    out.field(frontier)
    out.u8(UInt8(tables.count))
    for table in tables {
      out.u64(table.rows)
      out.u8(table.depth)
      out.key(table.root)
    }
    return out.bytes
  }

  /// Reads a body; what is not exactly in the written form is refused.
  ///
  /// - Throws: ``VaultError`` with reason `damagedState`.
  package init(decoding bytes: [UInt8]) throws(VaultError) {
    do throws(EncodingError) {
      var from = Reader(bytes)
      guard try from.u8() == Self.version else { throw .notCanonical("version") }
      let vault = try from.key()
      let counter = try from.u64()
      let epoch = try from.u64()
      let branch = try from.key()
      let flags = try from.u8()
      guard flags < 4 else { throw .notCanonical("flags") }
      self.init(vault: vault, branch: branch, createdDay: try from.i64())
      self.counter = counter
      self.keyEpoch = epoch
      isOnNetworkFileSystem = flags & 1 != 0
      isBackup = flags & 2 != 0
      machine = try from.key()
      slots = try from.key()
      schema = try from.key()
      ledgerSize = try from.u64()
      ledgerRoot = Digest32(try from.raw(32))
      frontier = try from.field()
      guard try from.u8() == UInt8(tables.count) else { throw .notCanonical("tables") }
      for index in tables.indices {
        tables[index].rows = try from.u64()
        tables[index].depth = try from.u8()
        tables[index].root = try from.key()
        guard tables[index].depth <= StateTree.deepest else { throw .notCanonical("depth") }
      }
      try from.end()
    } catch {
      throw .damagedState("the state row cannot be read")
    }
  }
}

extension Writer {
  mutating func key(_ key: Key16) {
    u64(key.high)
    u64(key.low)
  }
}

extension Reader {
  mutating func key() throws(EncodingError) -> Key16 { Key16(high: try u64(), low: try u64()) }
}

extension Key16 {
  package static let zero = Key16(high: 0, low: 0)
}
