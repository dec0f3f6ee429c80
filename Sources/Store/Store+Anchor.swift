import Encoding
package import Faults
import Sodium

/// How the store stands to the head outside the file.
package struct AnchorWatch {
  package let anchor: Anchor
  /// Whether a head that does not fit refuses the transaction. Looking (`history`, `verify`) and
  /// accepting (`reset-anchor`) do without.
  package var isEnforced = true
  /// The head was not there when it was looked for last.
  package internal(set) var isMissing = false
  /// The head names an older state than the file: to be brought up.
  package internal(set) var isBehind = false
  /// The last comparison refused, or there was none yet. Until one is passed nothing is published: a
  /// file that was put back or that forked must not take the place of the head that tells.
  var isRefused = true
  /// The bytes that were checked last, and the counter that they name.
  var knownBytes: [UInt8]?
  var known: AnchoredHead?

  package init(_ anchor: Anchor) { self.anchor = anchor }
}

extension Store {
  /// Compares the head outside the file with the state of the open transaction.
  ///
  /// `content` was read before the transaction began: another process may commit and publish between
  /// the two, and only this order never takes that for a file that was put back.
  ///
  /// - Throws: ``VaultError`` with reason `rolledBack`, `forked`, `anchorMissing` or `damagedAnchor`.
  func compareAnchor(_ content: [UInt8]?) throws(VaultError) {
    guard var watch else { return }
    watch.isRefused = true
    defer { self.watch = watch }
    guard let content else {
      watch.isMissing = true
      watch.isBehind = true
      if watch.isEnforced, keyring.anchor.kind == .required {
        throw VaultError(
          .damaged,
          "the vault's head at \(watch.anchor.path) is missing, and this vault requires it",
          hint: "put it back; if it was lost: vault reset-anchor", reason: .anchorMissing)
      }
      watch.isRefused = false
      return
    }
    watch.isMissing = false
    if content != watch.knownBytes {
      do throws(VaultError) {
        watch.known = try watch.anchor.newest(in: content, publicKey: keyring.publicKey)
        watch.knownBytes = content
      } catch {
        if watch.isEnforced { throw error }
        return
      }
    }
    if let head = watch.known {
      watch.isBehind = head.counter < state.counter
      if watch.isEnforced { try hold(head) }
    }
    watch.isRefused = false
  }

  /// Holds a head against the state in this snapshot.
  package func hold(_ head: AnchoredHead) throws(VaultError) {
    if head.counter > state.counter {
      throw .rolledBack(to: state.counter, from: head.counter)
    }
    if head.counter == state.counter, head.stateCode != code, isCommitted { throw .forked() }
    guard head.ledgerSize <= state.ledgerSize, let ledgerContinues,
      try ledgerContinues(head.ledgerSize, head.ledgerRoot)
    else { throw .forked() }
  }

  /// The committed head, as it would stand outside the file.
  package var head: AnchoredHead {
    AnchoredHead(
      counter: state.counter, branch: state.branch, keyEpoch: state.keyEpoch,
      ledgerSize: state.ledgerSize, ledgerRoot: state.ledgerRoot, stateCode: code,
      publicKey: keyring.publicKey)
  }

  /// Closes the head of a branch that was left behind: every file of that branch is too old from now
  /// on, also one that stood at its very head.
  package func retire(_ anchor: Anchor) throws(VaultError) {
    var head = self.head
    head.counter = .max
    try anchor.write(head, signedBy: keyring.signing, replacing: true)
  }

  /// Writes the committed head outside the file and syncs it, where it is not there yet.
  ///
  /// Comes before a secret leaves. Does nothing where the vault keeps no head.
  ///
  /// - Parameter replacing: The owner accepted the file as it is.
  package func publishHead(replacing: Bool = false) throws(VaultError) {
    // After a write that was rolled back the state's code is not known; a head without it would say
    // that the file is forked.
    if watch != nil, code == .zero { try read {} }
    guard var watch, replacing || !watch.isRefused,
      replacing || watch.isBehind || watch.known?.counter != state.counter
    else { return }
    precondition(!isWriting, "only a committed head is published")
    let head = self.head
    try watch.anchor.write(head, signedBy: keyring.signing, replacing: replacing)
    watch.known = nil
    watch.knownBytes = nil
    watch.isBehind = false
    watch.isMissing = false
    watch.isRefused = false
    self.watch = watch
  }
}

extension VaultError {
  static func forked() -> VaultError {
    VaultError(
      .damaged,
      "the vault file and the last head seen outside it tell two different histories",
      hint: "vault verify; if this file is the right one: vault reset-anchor", reason: .forked)
  }
}
