import Encoding
package import Faults
import FileSystem
import Glibc
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
  /// The bytes that were checked last, and the head that they name.
  var knownBytes: [UInt8]?
  package internal(set) var known: AnchoredHead?
  /// What the kernel said of the file before those bytes were read; nil where it cannot be relied on.
  var knownFacts: FileFacts?
  /// The code of the state that `known` was held against last.
  var heldCode: Digest32 = .zero
  /// A network file system may show facts that are no longer true.
  private let tellsChanges: Bool

  package init(_ anchor: Anchor) {
    self.anchor = anchor
    let fileSystem = try? Files.fileSystem(of: anchor.path)
    tellsChanges = fileSystem == .local
  }

  /// A look at the head outside the file.
  enum Look {
    /// It is the file that was read last, unchanged since.
    case unchanged
    /// Its bytes, or nil where it is not there.
    case bytes([UInt8]?)
  }

  /// Looks at the head, and reads it unless the kernel's facts of the file (which one it is, its size,
  /// when it last changed, to the nanosecond) are those of the last reading.
  ///
  /// A file that is written or replaced has another time of change, which nobody sets who does not set
  /// the machine's clock. Two changes have the same time only within one tick of that clock, so facts
  /// are relied on only where the last change was longer ago than any tick when the bytes were read.
  mutating func look() throws(VaultError) -> Look {
    let path = anchor.path
    let facts = try files("reading the vault's head") { () throws(FileError) in
      try Files.inspect(path)
    }
    if let facts, facts == knownFacts { return .unchanged }
    let now = Self.now
    let content = try anchor.bytes()
    knownFacts = nil
    if let facts, content != nil, tellsChanges,
      now - max(facts.modifiedAt, facts.changedAt) > Self.tick(of: facts)
    {
      knownFacts = facts
    }
    return .bytes(content)
  }

  /// More than the kernel's ticks are apart; for a file system that keeps whole seconds, two of them
  /// and some.
  private static func tick(of facts: FileFacts) -> Int64 {
    let second: Int64 = 1_000_000_000
    let isCoarse = facts.modifiedAt % second == 0 && facts.changedAt % second == 0
    return isCoarse ? 5 * second / 2 : second / 20
  }

  /// Nanoseconds since 1970, by the clock that dates files.
  private static var now: Int64 {
    var time = timespec()
    // The kernel writes into our own variable; it has this clock.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Store {
  /// Compares the head outside the file with the state of the open transaction.
  ///
  /// `look` was taken before the transaction began: another process may commit and publish between
  /// the two, and only this order never takes that for a file that was put back.
  ///
  /// - Throws: ``VaultError`` with reason `rolledBack`, `forked`, `anchorMissing` or `damagedAnchor`.
  func compareAnchor(_ look: AnchorWatch.Look?) throws(VaultError) {
    guard let look, var watch else { return }
    if case .unchanged = look, watch.heldCode == code, code != .zero { return }
    watch.isRefused = true
    defer { self.watch = watch }
    watch.heldCode = .zero
    switch look {
    case .unchanged: break
    case .bytes(nil):
      watch.isMissing = true
      watch.isBehind = true
      if watch.isEnforced, keyring.anchor.kind == .required {
        throw VaultError(
          .damaged,
          "the vault's head at \(watch.anchor.path) is missing, and this vault requires it: put it"
            + " back",
          hint: "vault help reset-anchor", reason: .anchorMissing)
      }
      watch.isRefused = false
      return
    case .bytes(let content?):
      watch.isMissing = false
      if content != watch.knownBytes {
        do throws(VaultError) {
          watch.known = nil
          watch.knownBytes = nil
          watch.known = try watch.anchor.newest(in: content, publicKey: keyring.publicKey)
          watch.knownBytes = content
        } catch {
          // Nothing is known of this file, so it is read again at the next look.
          watch.knownFacts = nil
          if watch.isEnforced { throw error }
          return
        }
      }
    }
    if let head = watch.known {
      watch.isBehind = head.counter < state.counter
      if watch.isEnforced {
        try hold(head)
        watch.heldCode = code
      }
    }
    watch.isRefused = false
  }

  /// Holds a head against the state in this snapshot.
  package func hold(_ head: AnchoredHead) throws(VaultError) {
    if head.counter > state.counter {
      throw .rolledBack(to: state.counter, from: head.counter)
    }
    // Another branch's head, copied here, says nothing of this one since it began.
    guard head.branch == state.branch else { throw .forked() }
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
    do throws(VaultError) {
      try watch.anchor.write(head, signedBy: keyring.signing, replacing: replacing)
    } catch {
      // What was committed stays: to say that nothing was changed would be untrue.
      throw error.afterCommit(watch.anchor.path)
    }
    watch.known = nil
    watch.knownBytes = nil
    watch.knownFacts = nil
    watch.heldCode = .zero
    watch.isBehind = false
    watch.isMissing = false
    watch.isRefused = false
    self.watch = watch
  }
}

extension VaultError {
  /// The head could not be written, after the change itself was committed.
  fileprivate func afterCommit(_ path: String) -> VaultError {
    var told = self
    if code == .exists || code == .notFound { told.code = .io }
    let why = reason == .diskFull ? "the disk is full" : message
    told.message =
      "what was done is in the vault, but its head outside could not be written to \(path): \(why)"
    told.hint = "vault doctor"
    return told
  }

  static func forked() -> VaultError {
    VaultError(
      .damaged,
      "the vault file and the last head seen outside it tell two different histories",
      hint: "vault help reset-anchor", reason: .forked)
  }
}
