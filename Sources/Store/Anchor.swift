package import Encoding
package import Faults
import FileSystem
import Glibc
import Sodium

/// What the head outside the file says of it.
package struct AnchoredHead: Equatable, Sendable {
  package var counter: UInt64
  package var branch: Key16
  package var keyEpoch: UInt64
  package var ledgerSize: UInt64
  package var ledgerRoot: Digest32
  /// The code of the state row at this counter.
  package var stateCode: Digest32
  package var publicKey: [UInt8]
}

/// The head kept outside the file, so that a file put back to an older copy is found.
///
/// A file of two slots of 512 bytes. The older slot is written, then synced; a torn slot loses to
/// the other. It is signed with the ledger's key, not coded with the vault's: after a crash between
/// a key rotation and the write of the anchor, a code could not be checked any more.
package struct Anchor {
  static let slotSize = 512
  private static let magic = Array("vault/head/1".utf8)

  let path: String
  let vault: Key16
  private let checked = Checked()

  package init(path: String, vault: Key16) {
    self.path = path
    self.vault = vault
  }

  /// The slots whose signatures were checked last, byte for byte. Not for several threads at a time.
  private final class Checked {
    var slots: [(content: [UInt8], head: AnchoredHead)] = []

    func head(of content: [UInt8], publicKey: [UInt8]) -> AnchoredHead? {
      slots.first { $0.content == content && $0.head.publicKey == publicKey }?.head
    }

    func note(_ content: [UInt8], _ head: AnchoredHead) {
      if slots.count > 3 { slots.removeFirst() }
      slots.append((content, head))
    }
  }

  /// Reads the newest good slot; nil where the file is not there.
  ///
  /// - Throws: ``VaultError`` with reason `damagedAnchor` where no slot is good.
  package func read(publicKey: [UInt8]) throws(VaultError) -> AnchoredHead? {
    guard let content = try bytes() else { return nil }
    return try newest(in: content, publicKey: publicKey)
  }

  /// The file's bytes as they are, or nil where it is not there.
  func bytes() throws(VaultError) -> [UInt8]? {
    do throws(FileError) {
      let file = try Files.openExisting(path, write: false)
      return try file.readAll(maximum: 2 * Self.slotSize)
    } catch {
      if error.kind == .notFound { return nil }
      throw .file(error, "reading the vault's head")
    }
  }

  func newest(in content: [UInt8], publicKey: [UInt8]) throws(VaultError) -> AnchoredHead {
    let heads = (0..<2).compactMap { parse(slot($0, of: content), publicKey: publicKey) }
    guard let newest = heads.max(by: { $0.counter < $1.counter }) else {
      throw VaultError(
        .damaged, "the vault's head at \(path) cannot be read, or belongs to another vault",
        hint: "vault reset-anchor", reason: .damagedAnchor)
    }
    return newest
  }

  /// Writes a head, if it is newer than the one that is there; syncs it.
  ///
  /// Writers of several processes take turns under a lock, read again, and never go back.
  ///
  /// - Parameter replacing: Write even where the counter there is greater: the owner accepted the
  ///   file as it is.
  func write(
    _ head: AnchoredHead, signedBy key: borrowing SigningKey, replacing: Bool = false
  ) throws(VaultError) {
    do throws(FileError) {
      let directory = Self.directory(of: path)
      try Files.makeDirectories(directory)
      guard let lock = try lock() else {
        throw FileError(errno: EAGAIN, operation: "lock", path: path + ".lock")
      }
      defer { withExtendedLifetime(lock) {} }
      guard let found = try? bytes() else {
        try create(head, signedBy: key)
        return
      }
      let slots = (0..<2).map { parse(slot($0, of: found), publicKey: head.publicKey) }
      let newest = slots.compactMap { $0?.counter }.max()
      if let newest, newest >= head.counter, !replacing { return }
      let target: Int
      if replacing {
        target = 0
      } else {
        target = (slots[0]?.counter ?? 0) <= (slots[1]?.counter ?? 0) ? 0 : 1
      }
      let file = try Files.openExisting(path, write: true)
      let content = encode(head, signedBy: key)
      // The array lives through the call.
      try unsafe file.write(content.span.bytes, at: Int64(target * Self.slotSize))
      checked.note(content, head)
      if replacing {
        let empty = [UInt8](repeating: 0, count: Self.slotSize)
        try unsafe file.write(empty.span.bytes, at: Int64(Self.slotSize))
      }
      try file.synchronize()
    } catch {
      if error.errno == EAGAIN {
        throw VaultError(
          .tryAgain, "another process holds the lock of the vault's head", hint: "vault doctor",
          reason: .busy)
      }
      throw .file(error, "writing the vault's head")
    }
  }

  /// The writers' lock, waited for as long as for the vault's own: a process that was stopped while
  /// it held it must not stop all others. Nil where it was not to be had.
  private func lock() throws(FileError) -> FileLock? {
    for _ in 0..<Int(VaultFile.busyMilliseconds) / 20 {
      if let lock = try FileLock.acquire(path + ".lock", byte: 0, wait: false) { return lock }
      usleep(20_000)
    }
    return nil
  }

  /// Makes the file whole under another name first: what a kill cuts off must not be a head that
  /// cannot be read, which would refuse the vault.
  private func create(_ head: AnchoredHead, signedBy key: borrowing SigningKey) throws(FileError) {
    let draft = "\(path).new-\(Hex.encode(Random.bytes(6)))"
    do throws(FileError) {
      let file = try Files.createNew(draft, mode: 0o600)
      let empty = [UInt8](repeating: 0, count: Self.slotSize)
      try file.write(encode(head, signedBy: key) + empty)
      try file.synchronizeFully()
      try Files.publish(draft, as: path)
    } catch {
      try? Files.remove(draft)
      throw error
    }
  }

  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  // MARK: Slots

  private func slot(_ index: Int, of content: [UInt8]) -> [UInt8] {
    let start = index * Self.slotSize
    guard content.count >= start + Self.slotSize else { return [] }
    return Array(content[start..<start + Self.slotSize])
  }

  private func text(of head: AnchoredHead) -> [UInt8] {
    var out = Writer(capacity: Self.slotSize)
    out.raw(Self.magic)
    out.key(vault)
    out.u64(head.counter)
    out.key(head.branch)
    out.u64(head.keyEpoch)
    out.u64(head.ledgerSize)
    out.raw(head.ledgerRoot.bytes)
    out.raw(head.stateCode.bytes)
    out.raw(head.publicKey)
    return out.bytes
  }

  private func encode(_ head: AnchoredHead, signedBy key: borrowing SigningKey) -> [UInt8] {
    let text = text(of: head)
    let signature = key.sign(text)
    let padding = [UInt8](repeating: 0, count: Self.slotSize - text.count - signature.count)
    return text + signature + padding
  }

  private func parse(_ slot: [UInt8], publicKey: [UInt8]) -> AnchoredHead? {
    guard slot.count == Self.slotSize else { return nil }
    if let head = checked.head(of: slot, publicKey: publicKey) { return head }
    do throws(EncodingError) {
      var from = Reader(slot)
      guard try from.raw(Self.magic.count) == Self.magic, try from.key() == vault else {
        return nil
      }
      let head = AnchoredHead(
        counter: try from.u64(), branch: try from.key(), keyEpoch: try from.u64(),
        ledgerSize: try from.u64(), ledgerRoot: Digest32(try from.raw(32)),
        stateCode: Digest32(try from.raw(32)), publicKey: try from.raw(32))
      let signature = try from.raw(64)
      let rest = try from.raw(from.remaining)
      guard head.publicKey == publicKey, rest.allSatisfy({ $0 == 0 }),
        Ed25519.verify(signature, text(of: head), publicKey: publicKey)
      else { return nil }
      checked.note(slot, head)
      return head
    } catch {
      return nil
    }
  }

  /// Reads the newest slot without knowing the key: its own public key must have signed it.
  package func readUnauthenticated() throws(VaultError) -> AnchoredHead? {
    guard let content = try bytes() else { return nil }
    let start = Self.magic.count + 16 + 8 + 16 + 8 + 8 + 32 + 32
    let heads = (0..<2).compactMap { index -> AnchoredHead? in
      let slot = slot(index, of: content)
      guard slot.count == Self.slotSize else { return nil }
      return parse(slot, publicKey: Array(slot[start..<start + 32]))
    }
    return heads.max { $0.counter < $1.counter }
  }
}
