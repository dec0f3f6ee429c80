package import Encoding
package import Faults
import Migrations
import SQLite
import Sodium

/// The unlocked vault: sealed rows, the state tree over them, the ledger's rows, one state row.
///
/// Everything happens inside a transaction (``read(_:)`` or ``write(_:)``), which begins by reading
/// the state row and holding its code against the key, and each row is held against the state tree
/// before it is believed. One thread at a time.
package final class Store {
  package let file: VaultFile
  var keys: Keys
  package internal(set) var keyring: Keyring
  /// As of the open transaction, or of the last one.
  package internal(set) var state: StateRecord
  package internal(set) var code: Digest32
  /// As last committed: what a rolled back transaction returns to.
  private var committed: StateRecord
  var sealedKeyring: [UInt8]
  let tree: StateTree
  let statements: Statements
  let rows: [RowStatements]
  private(set) var isWriting = false
  private(set) var isReading = false
  /// Whether the last commit came back with an error, so that nothing is known of it.
  private var isCommitUnknown = false
  /// The copy that was made before the format changed.
  package private(set) var migrationBackup: String?

  /// A number for each table that is another one as soon as its rows may be others.
  private var revisions = [UInt64](repeating: 1, count: TableID.allCases.count)
  /// A number that is another one as soon as the rows of any table may be others. What was read and
  /// checked while it had a value is still what the state's roots say while it has that value, so it
  /// need not be read again. Entries of the ledger do not change it.
  package private(set) var revision: UInt64 = 1
  var lastRow: ReadRow?
  private var hasChanges = false

  /// The head outside the file; nil where the vault keeps none.
  package var watch: AnchorWatch?
  /// Whether the ledger is proved to begin with the tree of an earlier size and root; set by the owner
  /// of the ledger.
  package var ledgerContinues: ((UInt64, Digest32) throws(VaultError) -> Bool)?
  /// Whether `code` belongs to `state` as it is: not so once a write has begun to change it.
  var isCommitted: Bool { state.counter == committed.counter && code != .zero }

  var connection: Connection { file.connection }
  package var vault: Key16 { state.vault }
  package var path: String { file.path }

  init(file: VaultFile, keys: consuming Keys) throws(VaultError) {
    self.file = file
    let statements = try sql("opening \(file.path)") { () throws(SQLiteError) in
      try Statements(file.connection)
    }
    let found = try Self.readState(statements)
    let state = try Self.authenticated(found, keys: keys)
    let keyring = try Keyring.open(found.keyring, vault: state.vault, keys: keys)
    try Self.checkSchema(file.connection, state)
    tree = try sql("opening \(file.path)") { () throws(SQLiteError) in
      try StateTree(file.connection)
    }
    rows = try sql("opening \(file.path)") { () throws(SQLiteError) -> [RowStatements] in
      var rows: [RowStatements] = []
      for table in TableID.allCases { rows.append(RowStatements(table, file.connection)) }
      return rows
    }
    self.statements = statements
    self.state = state
    committed = state
    self.keyring = keyring
    self.keys = keys
    code = found.code
    sealedKeyring = found.keyring
    if file.format < Migrations.currentFormat { try migrate() }
  }

  // MARK: Transactions

  /// Runs `body` on one snapshot of the vault.
  package func read<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    if isReading || isWriting { return try body() }
    let anchored = try watch?.look()
    try sql("reading the vault") { () throws(SQLiteError) in try statements.begin.run() }
    isReading = true
    defer {
      isReading = false
      try? statements.rollback.run()
    }
    try refresh()
    try compareAnchor(anchored)
    return try body()
  }

  /// Whether the state of the vault, and the head outside it, are still those that the last
  /// transaction saw: one look at each, as cheap as a look can be.
  ///
  /// True means that everything that was checked at this ``revision`` holds. Otherwise ``read(_:)``
  /// takes over what is new, or says what is wrong with it.
  package func isUnchanged() throws(VaultError) -> Bool {
    guard !isReading, !isWriting, code != .zero else { return false }
    if watch != nil {
      guard case .unchanged = try watch?.look(), watch?.heldCode == code else { return false }
    }
    return try Self.readState(statements, knowing: code) == nil
  }

  package func revision(of table: TableID) -> UInt64 { revisions[table.position] }

  /// To be told before rows of a table change.
  func noteChange(of table: TableID) {
    revision += 1
    revisions[table.position] = revision
    hasChanges = true
  }

  /// Runs `body` as the only writer and commits what it did, with the state row, as one.
  ///
  /// When `body` throws, or anything goes wrong before the commit, the file is as it was. Nested
  /// calls are parts of the outermost.
  ///
  /// - Throws: ``VaultError`` with reason `busy` where another process writes for longer than
  ///   ``VaultFile/busyMilliseconds``; `diskFull` and `io` where nothing could be committed.
  package func write<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    if isWriting { return try body() }
    // Whoever walks the accounts may try to change one on the way.
    guard !isReading else {
      throw VaultError(
        .failed, "the vault cannot be changed while it is being walked through",
        hint: "collect what is to be changed, then change it")
    }
    let anchored = try watch?.look()
    try sql("writing the vault") { () throws(SQLiteError) in try statements.beginImmediate.run() }
    isWriting = true
    hasChanges = false
    defer { isWriting = false }
    do throws(VaultError) {
      try refresh()
      try compareAnchor(anchored)
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  private func rollBack() {
    try? statements.rollback.run()
    tree.forget()
    // What was read since may be what is taken back now.
    if hasChanges { TableID.allCases.forEach(noteChange(of:)) }
    state = committed
    code = .zero
  }

  /// Writes the tree and the state row, and commits.
  ///
  /// An error at the commit itself leaves the outcome unknown: the counter is read again before it is
  /// told to the caller.
  private func commit() throws(VaultError) {
    try tree.write(into: &state, keys: keys)
    state.counter += 1
    let body = state.encoded()
    let newCode = Self.code(body: body, keyring: sealedKeyring, keys: keys)
    try sql("writing the vault") { () throws(SQLiteError) in
      statements.updateState.bind(1, bytes: body)
      statements.updateState.bind(2, bytes: sealedKeyring)
      newCode.withBytes { statements.updateState.bind(3, blob: $0) }
      try statements.updateState.run()
    }
    do throws(SQLiteError) {
      try statements.commit.run()
    } catch {
      rollBack()
      let found = try? Self.readState(statements)
      guard let found, found.code == newCode else { throw .storage(error, "committing") }
      state = try Self.authenticated(found, keys: keys)
    }
    committed = state
    code = newCode
    watch?.isBehind = true
  }

  /// Takes over the state row as it is in this snapshot.
  ///
  /// - Throws: ``VaultError`` with reason `keysChanged` where another process gave the vault a new
  ///   key; `rolledBack` where the counter went back; `damagedState` where the code is wrong.
  private func refresh() throws(VaultError) {
    let found = try Self.readState(statements, knowing: code)
    guard let found else { return }
    let last = state.counter
    let fresh = try Self.authenticated(found, keys: keys)
    if fresh.counter < last { throw .rolledBack(to: fresh.counter, from: last) }
    // Another state of the same counter was never this file's next one.
    if fresh.counter == last, code != .zero { throw .forked() }
    for table in TableID.allCases where fresh[table] != state[table] {
      tree.forget(table)
      noteChange(of: table)
    }
    if found.keyring != sealedKeyring {
      keyring = try Keyring.open(found.keyring, vault: fresh.vault, keys: keys)
      sealedKeyring = found.keyring
    }
    state = fresh
    committed = fresh
    code = found.code
  }

  /// Holds the whole state row, as it stands in the file, against what this session knows.
  ///
  /// ``refresh()`` looks no further than the code where it has not changed.
  func reauthenticate() throws(VaultError) {
    let found = try Self.readState(statements)
    guard found.code == code, found.keyring == sealedKeyring,
      try Self.authenticated(found, keys: keys) == state
    else { throw .damagedState("the state row is not the one that the vault wrote") }
  }

  // MARK: The state row

  struct FoundState {
    var body: [UInt8]
    var keyring: [UInt8]
    var code: Digest32
  }

  private static func readState(_ statements: Statements) throws(VaultError) -> FoundState {
    guard let found = try readState(statements, knowing: .zero) else {
      throw .damagedState("the state row is missing")
    }
    return found
  }

  /// Nil where the row's code is the one that is known already.
  private static func readState(_ statements: Statements, knowing known: Digest32)
    throws(VaultError) -> FoundState?
  {
    let select = statements.selectState
    defer { select.reset() }
    let hasRow = try sql("reading the vault") { () throws(SQLiteError) in try select.step() }
    guard hasRow else { throw .damagedState("the state row is missing") }
    let code = select.withBlob(0) { (span: RawSpan) -> Digest32? in
      span.byteCount == 32 ? Digest32(span) : nil
    }
    guard let code else { throw .damagedState("the state's code has a wrong size") }
    if code == known, known != .zero { return nil }
    return FoundState(body: select.bytes(1), keyring: select.bytes(2), code: code)
  }

  private static func authenticated(_ found: FoundState, keys: borrowing Keys) throws(VaultError)
    -> StateRecord
  {
    let state = try StateRecord(decoding: found.body)
    if state.keyEpoch != keys.epoch {
      throw VaultError(
        .tryAgain, "the vault was given a new key by another process: unlock it again",
        hint: "vault keys",
        reason: .keysChanged)
    }
    // Whoever edits the file can make every digest below this one, but not this code.
    guard code(body: found.body, keyring: found.keyring, keys: keys) == found.code else {
      throw .damagedState("the state row does not carry this vault's code")
    }
    return state
  }

  static func code(body: [UInt8], keyring: [UInt8], keys: borrowing Keys) -> Digest32 {
    var hash = KeyedHash(key: keys.stateCode, outputCount: 32)
    var length = Writer(capacity: 24)
    length.raw(Array("vault/state/1".utf8))
    length.u64(UInt64(body.count))
    hash.update(length.bytes)
    hash.update(body)
    hash.update(keyring)
    return hash.finish32()
  }

  private static func checkSchema(_ connection: Connection, _ state: StateRecord)
    throws(VaultError)
  {
    let digest = try sql("reading the schema") { () throws(SQLiteError) in
      try Schema.digest(of: connection)
    }
    guard digest == state.schema else {
      throw .damagedState("its tables are not the ones that the vault made")
    }
  }

  /// Begins another branch of the ledger, in the open transaction.
  package func beginBranch(_ branch: Key16, machine: Key16) {
    precondition(isWriting, "a branch begins inside a write")
    state.branch = branch
    state.isBackup = false
    state.machine = machine
  }

  /// Puts other settings into the keyring; written by the next commit.
  package func setAnchorPolicy(_ policy: AnchorPolicy) {
    precondition(isWriting, "settings change inside a write")
    keyring.anchor = policy
    sealedKeyring = keyring.sealed(vault: vault, keys: keys)
  }

  // MARK: Format

  /// Takes an older file to this format: a copy first, then one transaction a step, with the format
  /// number, the digest of the new tables and the state in it.
  private func migrate() throws(VaultError) {
    migrationBackup = try Schema.copyBeforeChange(
      connection, path: path, format: file.format)
    for step in file.format..<Migrations.currentFormat {
      try write { () throws(VaultError) in
        try sql("taking the vault to format \(step + 1)") { () throws(SQLiteError) in
          try connection.execute(Migrations.steps[step])
          try connection.execute("PRAGMA user_version = \(step + 1)")
        }
        state.schema = try sql("reading the schema") { () throws(SQLiteError) in
          try Schema.digest(of: connection)
        }
      }
    }
  }
}

extension VaultError {
  static func rolledBack(to counter: UInt64, from last: UInt64) -> VaultError {
    let seen =
      last == .max ? "its head was closed by a reset-anchor" : "state \(counter) after \(last)"
    return VaultError(
      .damaged,
      "the vault file is older than the last one seen (\(seen)): an older copy was put back; put the"
        + " newest file in its place",
      hint: "vault help reset-anchor",
      reason: .rolledBack)
  }
}
