import Encoding
public import Faults
import FileSystem
import Ledger
import Sodium
import Store

extension Vault {
  /// Whether anything is at a path, a dangling link included.
  public static func exists(at path: String) -> Bool {
    (try? Files.inspect(path)) != nil
  }

  /// Checks what can be checked without a key: the leaves, the hashes, the root, and the signature of
  /// the head outside the file or of a kept checkpoint.
  ///
  /// Whether rows and grants are right stays unknown. A public key that came from the same file would
  /// prove nothing, so it is taken from the head or the checkpoint.
  ///
  /// - Throws: ``VaultError`` for the first entry that is wrong.
  public func verify(
    against checkpoint: String? = nil, options: UnlockOptions = UnlockOptions()
  ) throws(VaultError) -> Verification {
    let file = try takeFile()
    return try file.read { (state) throws(VaultError) in
      var checked = ["file", "key slots"]
      try file.verifyStructure()
      var frontier = Frontier()
      var roots: [UInt64: Digest32] = [:]
      let kept = try checkpoint.map { (text) throws(VaultError) in
        try Vault.parsed(text, vault: state.vault)
      }
      let head =
        state.isBackup ? nil : try HeadDirectory.head(of: state, in: options.headDirectory)
      let wanted = Set([kept?.unverified.size, head?.ledgerSize].compactMap { $0 })
      if wanted.contains(0) { roots[0] = MerkleTree.emptyRoot }
      try file.lendEntries(state.ledgerSize) { (number, leaf, hashes) throws(VaultError) in
        guard (try? Leaf(leaf))?.number == number, frontier.append(leaf, checking: hashes) else {
          throw .damagedEntry(number, "its leaf or hashes are not those of the tree")
        }
        if wanted.contains(number + 1) { roots[number + 1] = frontier.root }
      }
      guard frontier.root == state.ledgerRoot else {
        throw .damagedEntry(
          state.ledgerSize == 0 ? 0 : state.ledgerSize - 1,
          "the tree's root is not the ledger's head")
      }
      checked.append("ledger's tree")
      var anchored = false
      if let head {
        guard roots[head.ledgerSize] == head.ledgerRoot else {
          throw .headDoesNotFit(state, head.ledgerSize)
        }
        anchored = true
        checked.append("head outside the file")
      }
      if let kept {
        try Vault.hold(kept, roots: roots, head: head, state: state)
        anchored = head != nil
        checked.append(head == nil ? "checkpoint, its signature not" : "checkpoint")
      }
      return Verification(
        entries: state.ledgerSize, root: Base64.encode(state.ledgerRoot.bytes), stateMatches: nil,
        anchored: anchored, checked: checked)
    }
  }

  private static func parsed(_ text: String, vault: Key16) throws(VaultError) -> SignedCheckpoint {
    let signed: SignedCheckpoint
    do throws(NoteError) {
      signed = try SignedCheckpoint(parsing: text)
    } catch {
      throw VaultError(.usage, "that is no checkpoint: \(error)", hint: "vault checkpoint")
    }
    guard signed.unverified.origin.hasPrefix("vault/\(vault.base32)/") else {
      throw VaultError(
        .damaged, "the checkpoint is of another vault (\(signed.unverified.origin))",
        reason: .forked)
    }
    return signed
  }

  /// Holds a checkpoint against the tree; its signature only where the head says with which key.
  private static func hold(
    _ kept: SignedCheckpoint, roots: [UInt64: Digest32], head: AnchoredHead?, state: StateRecord
  ) throws(VaultError) {
    let checkpoint: Checkpoint
    if let head {
      do throws(NoteError) {
        checkpoint = try kept.verified(
          with: VerifierKey(name: kept.unverified.origin, publicKey: head.publicKey))
      } catch {
        throw VaultError(
          .damaged, "the checkpoint's signature is not this vault's (\(error))", reason: .forked)
      }
    } else {
      checkpoint = kept.unverified
    }
    guard let root = roots[checkpoint.size], Base64.encode(root.bytes) == checkpoint.rootText else {
      throw .headDoesNotFit(state, checkpoint.size)
    }
  }
}

extension VaultError {
  fileprivate static func headDoesNotFit(_ state: StateRecord, _ size: UInt64) -> VaultError {
    size > state.ledgerSize
      ? VaultError(
        .damaged,
        "the ledger has \(state.ledgerSize) entries, \(size) were signed: its end was cut off or an"
          + " older copy was put back", hint: "vault verify",
        reason: .rolledBack)
      : VaultError(
        .damaged, "the ledger is not the one that was signed", hint: "vault verify", reason: .forked
      )
  }
}
