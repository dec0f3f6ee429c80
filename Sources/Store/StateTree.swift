import Encoding
import Faults
import SQLite
import Sodium

/// The keyed Merkle tree over the rows of every table.
///
/// A row's own seal says that it was written here, at this version. It cannot say that the row is
/// the newest version of itself, or that it is still there: an old `granted` put back over `revoked`
/// opens without complaint. The tree says both, and that a row is absent.
///
/// A leaf holds the keys and tags of the rows whose keys begin with the leaf's bits, in order; a
/// branch holds the digests of its 64 children. Digests are keyed BLAKE2b, so whoever edits the file
/// cannot make one; the root stands in the state row under its code. No sum of digests is kept:
/// sums can be made to cancel.
final class StateTree {
  /// More levels than any key has bits for cannot be.
  static let deepest: UInt8 = 6
  /// Rows for each leaf, on the average, before a table gets another level.
  static let rowsPerLeaf: UInt64 = 32

  private static let recordSize = 32
  private static let branchSize = 64 * 16
  /// Nodes kept in memory once they were checked; the bound keeps memory flat.
  private static let cacheLimit = 4 << 20

  private let select: Statement
  private let upsert: Statement
  private let delete: Statement
  /// Nodes on a checked path, as of the state last seen.
  private var checked: [Int64: [UInt8]] = [:]
  private var checkedBytes = 0
  /// Nodes changed by the open transaction; written at its end.
  private var changed: [Int64: [UInt8]] = [:]

  init(_ connection: Connection) throws(SQLiteError) {
    select = try connection.prepare("SELECT content FROM node WHERE place = ?1")
    upsert = try connection.prepare(
      "INSERT INTO node (place, content) VALUES (?1, ?2)"
        + " ON CONFLICT (place) DO UPDATE SET content = ?2")
    delete = try connection.prepare("DELETE FROM node WHERE place = ?1")
  }

  /// Forgets everything that was checked: another process wrote, or a transaction was rolled back.
  func forget() {
    forgetChecked()
    changed.removeAll(keepingCapacity: true)
  }

  /// Forgets what was checked, so that the next look is at the file; changes stay.
  func forgetChecked() {
    checked.removeAll(keepingCapacity: true)
    checkedBytes = 0
  }

  /// Forgets what was checked of one table.
  func forget(_ table: TableID) {
    for place in checked.keys where Self.table(of: place) == table.rawValue {
      if let content = checked.removeValue(forKey: place) { checkedBytes -= content.count + 64 }
    }
  }

  // MARK: Places

  /// Table, level and index in one integer, so that a table's nodes lie together.
  static func place(_ table: TableID, level: UInt8, index: UInt64) -> Int64 {
    Int64(table.rawValue) << 48 | Int64(level) << 40 | Int64(index)
  }

  private static func table(of place: Int64) -> UInt8 { UInt8(truncatingIfNeeded: place >> 48) }

  private static func leafIndex(of key: Key16, depth: UInt8) -> UInt64 {
    depth == 0 ? 0 : key.high >> (64 - 6 * UInt64(depth))
  }

  // MARK: Checking

  /// Holds a row's tag (or its absence) against the tree.
  ///
  /// - Throws: ``VaultError`` with reason `damagedRow` where tree and row disagree, or where the
  ///   path does not lead to the root.
  func check(
    _ table: TableID, _ key: Key16, tag: Key16?, in state: StateRecord, keys: borrowing Keys
  ) throws(VaultError) {
    let leaf = try leaf(table, of: key, in: state, keys: keys)
    let found = Self.find(key, in: leaf)
    switch (found.offset, tag) {
    case (nil, nil): return
    case (let offset?, let tag?):
      guard Self.key16(leaf, at: offset + 16) == tag else {
        throw .alteredRow(table, key)
      }
    case (_?, nil): throw .removedRow(table, key)
    case (nil, _?): throw .addedRow(table, key)
    }
  }

  /// The checked content of the leaf where `key` belongs.
  private func leaf(
    _ table: TableID, of key: Key16, in state: StateRecord, keys: borrowing Keys
  ) throws(VaultError) -> [UInt8] {
    let depth = state[table].depth
    return try node(
      table, level: 0, index: Self.leafIndex(of: key, depth: depth), in: state, keys: keys)
  }

  /// A node's content, checked up to the root or to a node that was checked before.
  private func node(
    _ table: TableID, level: UInt8, index: UInt64, in state: StateRecord, keys: borrowing Keys
  ) throws(VaultError) -> [UInt8] {
    let place = Self.place(table, level: level, index: index)
    if let content = changed[place] { return content }
    if let content = checked[place] { return content }
    let content = try read(place)
    guard
      level == 0
        ? content.count % Self.recordSize == 0 : [0, Self.branchSize].contains(content.count)
    else { throw .damagedTree(table, "node \(level)/\(index) has a wrong size") }
    let digest = Self.digest(of: content, at: place, keys: keys)
    let expected: Key16
    if level == state[table].depth {
      expected = state[table].root
    } else {
      let parent = try node(table, level: level + 1, index: index >> 6, in: state, keys: keys)
      expected = parent.isEmpty ? .zero : Self.key16(parent, at: Int(index & 63) * 16)
    }
    guard digest == expected else {
      throw .damagedTree(table, "node \(level)/\(index) does not lead to the root")
    }
    remember(content, at: place)
    return content
  }

  private func remember(_ content: [UInt8], at place: Int64) {
    if checkedBytes > Self.cacheLimit { forgetChecked() }
    if let old = checked.updateValue(content, forKey: place) { checkedBytes -= old.count + 64 }
    checkedBytes += content.count + 64
  }

  private func read(_ place: Int64) throws(VaultError) -> [UInt8] {
    do throws(SQLiteError) {
      defer { select.reset() }
      select.bind(1, place)
      return try select.step() ? select.bytes(0) : []
    } catch {
      throw .storage(error, "reading the state tree")
    }
  }

  // MARK: Changing

  /// Puts a row's new tag into the tree, or takes the row out of it.
  ///
  /// The path is checked first, so damage is found and not built upon. Nothing is written before
  /// ``write(into:keys:)``.
  func change(
    _ table: TableID, _ key: Key16, to tag: Key16?, in state: inout StateRecord,
    keys: borrowing Keys
  ) throws(VaultError) {
    if tag != nil, state[table].rows >= Self.rowsPerLeaf << (6 * UInt64(state[table].depth)) {
      try grow(table, in: &state, keys: keys)
    }
    let depth = state[table].depth
    let index = Self.leafIndex(of: key, depth: depth)
    var leaf = try node(table, level: 0, index: index, in: state, keys: keys)
    let place = Self.place(table, level: 0, index: index)
    let found = Self.find(key, in: leaf)
    switch (found.offset, tag) {
    case (let offset?, let tag?):
      Self.put(tag, into: &leaf, at: offset + 16)
    case (let offset?, nil):
      leaf.removeSubrange(offset..<offset + Self.recordSize)
      state[table].rows -= 1
    case (nil, let tag?):
      leaf.insert(contentsOf: key.bytes + tag.bytes, at: found.insertion)
      state[table].rows += 1
    case (nil, nil): return
    }
    changed[place] = leaf
  }

  /// Writes the changed leaves and the branches above them, and sets the tables' roots.
  func write(into state: inout StateRecord, keys: borrowing Keys) throws(VaultError) {
    guard !changed.isEmpty else { return }
    let tables = Set(changed.keys.map(Self.table(of:)))
    for table in TableID.allCases where tables.contains(table.rawValue) {
      let depth = state[table].depth
      for level in 0...depth {
        let range =
          Self.place(table, level: level, index: 0)..<Self.place(table, level: level + 1, index: 0)
        let places = changed.keys.filter { range.contains($0) }.sorted()
        for place in places {
          guard let content = changed[place] else { continue }
          try write(content, at: place)
          let digest = Self.digest(of: content, at: place, keys: keys)
          let index = UInt64(place - range.lowerBound)
          if level == depth {
            state[table].root = digest
          } else {
            try set(digest, ofChild: index, table, level: level + 1, in: state, keys: keys)
          }
        }
      }
    }
    for (place, content) in changed { remember(content, at: place) }
    changed.removeAll(keepingCapacity: true)
  }

  private func set(
    _ digest: Key16, ofChild index: UInt64, _ table: TableID, level: UInt8,
    in state: StateRecord, keys: borrowing Keys
  ) throws(VaultError) {
    var branch = try node(table, level: level, index: index >> 6, in: state, keys: keys)
    if branch.isEmpty { branch = [UInt8](repeating: 0, count: Self.branchSize) }
    let offset = Int(index & 63) * 16
    Self.put(digest, into: &branch, at: offset)
    changed[Self.place(table, level: level, index: index >> 6)] = branch
  }

  private func write(_ content: [UInt8], at place: Int64) throws(VaultError) {
    do throws(SQLiteError) {
      if content.isEmpty {
        delete.bind(1, place)
        try delete.run()
      } else {
        upsert.bind(1, place)
        upsert.bind(2, bytes: content)
        try upsert.run()
      }
    } catch {
      throw .storage(error, "writing the state tree")
    }
  }

  /// Gives a table another level: every leaf becomes 64.
  ///
  /// Leaves are split from the last to the first, so that a new leaf never lands on an old one that
  /// is still to be read. Each was checked before; all branches are made anew.
  private func grow(_ table: TableID, in state: inout StateRecord, keys: borrowing Keys)
    throws(VaultError)
  {
    try write(into: &state, keys: keys)
    let old = state[table].depth
    guard old < Self.deepest else { throw VaultError(.failed, "\(table.name): too many rows") }
    let leaves = UInt64(1) << (6 * UInt64(old))
    var split: [(UInt64, [UInt8])] = []
    for index in stride(from: Int64(leaves) - 1, through: 0, by: -1) {
      let index = UInt64(index)
      let content = try node(table, level: 0, index: index, in: state, keys: keys)
      if content.isEmpty { continue }
      try write([], at: Self.place(table, level: 0, index: index))
      split.removeAll(keepingCapacity: true)
      for offset in stride(from: 0, to: content.count, by: Self.recordSize) {
        let child = Self.leafIndex(of: Self.key16(content, at: offset), depth: old + 1)
        let record = content[offset..<offset + Self.recordSize]
        if split.last?.0 == child {
          split[split.count - 1].1 += record
        } else {
          split.append((child, Array(record)))
        }
      }
      for (child, content) in split {
        try write(content, at: Self.place(table, level: 0, index: child))
      }
    }
    for level in stride(from: old, to: 0, by: -1) {
      for index in 0..<(leaves >> (6 * UInt64(level))) {
        try write([], at: Self.place(table, level: level, index: index))
      }
    }
    forget()
    state[table].depth = old + 1
    state[table].root = try rebuildBranches(table, depth: old + 1, keys: keys)
  }

  /// Makes every branch of a table from its leaves as they are stored; answers the root.
  ///
  /// Only for leaves that were written or checked in this transaction: made from what is merely
  /// found, it would whitewash damage.
  func rebuildBranches(_ table: TableID, depth: UInt8, keys: borrowing Keys) throws(VaultError)
    -> Key16
  {
    guard depth > 0 else {
      let place = Self.place(table, level: 0, index: 0)
      return Self.digest(of: try read(place), at: place, keys: keys)
    }
    var root = Key16.zero
    for level in 1...depth {
      let below = UInt64(1) << (6 * UInt64(depth - level))
      for index in 0..<below {
        var branch = [UInt8](repeating: 0, count: Self.branchSize)
        var isEmpty = true
        for child in 0..<UInt64(64) {
          let place = Self.place(table, level: level - 1, index: index << 6 | child)
          let content = try read(place)
          if content.isEmpty { continue }
          isEmpty = false
          let offset = Int(child) * 16
          branch.replaceSubrange(
            offset..<offset + 16, with: Self.digest(of: content, at: place, keys: keys).bytes)
        }
        let place = Self.place(table, level: level, index: index)
        try write(isEmpty ? [] : branch, at: place)
        if level == depth {
          root = Self.digest(of: isEmpty ? [] : branch, at: place, keys: keys)
        }
      }
    }
    return root
  }

  // MARK: The whole

  /// A walk over a table's records in key order.
  struct Walk {
    fileprivate let table: TableID
    fileprivate var index: UInt64
    fileprivate let end: UInt64
    fileprivate var leaf: [UInt8] = []
    fileprivate var offset = 0
  }

  /// Begins a walk at the first record whose key is not smaller than `first`.
  func walk(
    _ table: TableID, from first: Key16? = nil, in state: StateRecord, keys: borrowing Keys
  ) throws(VaultError) -> Walk {
    let depth = state[table].depth
    let end = UInt64(1) << (6 * UInt64(depth))
    guard let first else { return Walk(table: table, index: 0, end: end) }
    var walk = Walk(table: table, index: Self.leafIndex(of: first, depth: depth), end: end)
    walk.leaf = try node(table, level: 0, index: walk.index, in: state, keys: keys)
    walk.offset = Self.find(first, in: walk.leaf).insertion
    walk.index += 1
    return walk
  }

  /// The next record, its path checked; nil at the end.
  func next(_ walk: inout Walk, in state: StateRecord, keys: borrowing Keys) throws(VaultError)
    -> (key: Key16, tag: Key16)?
  {
    while walk.offset == walk.leaf.count {
      guard walk.index < walk.end else { return nil }
      walk.leaf = try node(walk.table, level: 0, index: walk.index, in: state, keys: keys)
      walk.offset = 0
      walk.index += 1
    }
    defer { walk.offset += Self.recordSize }
    return (
      Self.key16(walk.leaf, at: walk.offset), Self.key16(walk.leaf, at: walk.offset + 16)
    )
  }

  // MARK: Bytes

  private static func digest(of content: [UInt8], at place: Int64, keys: borrowing Keys) -> Key16 {
    if content.isEmpty { return .zero }
    let nothing = RawSpan()
    // The place is hashed too, so that no node can be moved to another. Integer and array live
    // through the call.
    return unsafe withUnsafeBytes(of: place.bigEndian) { place in
      unsafe KeyedHash.digest16(
        RawSpan(_unsafeBytes: place), content.span.bytes, nothing, key: keys.tree)
    }
  }

  private static func find(_ key: Key16, in leaf: [UInt8]) -> (offset: Int?, insertion: Int) {
    var low = 0
    var high = leaf.count / recordSize
    while low < high {
      let middle = (low + high) / 2
      let other = key16(leaf, at: middle * recordSize)
      if other == key { return (middle * recordSize, middle * recordSize) }
      if other < key { low = middle + 1 } else { high = middle }
    }
    return (nil, low * recordSize)
  }

  private static func put(_ key: Key16, into bytes: inout [UInt8], at offset: Int) {
    for place in 0..<8 {
      let shift = UInt64(56 - 8 * place)
      bytes[offset + place] = UInt8(truncatingIfNeeded: key.high >> shift)
      bytes[offset + 8 + place] = UInt8(truncatingIfNeeded: key.low >> shift)
    }
  }

  private static func key16(_ bytes: [UInt8], at offset: Int) -> Key16 {
    // Within the array's life; the offset is checked by `extracting`.
    unsafe Key16(bytes.span.bytes.extracting(offset..<offset + 16))
  }
}
