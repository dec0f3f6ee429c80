package import Encoding
import Sodium

/// A proof that the ledger of a checkpoint continues an older one, with the newer checkpoint.
///
/// C2SP has no text form for it; this one is made in the manner of its tlog-proof:
///
/// ```
/// vault-consistency@v1
/// old N
/// new M
/// <hashes in base64, in the order of RFC 9162, section 2.1.4.1>
/// <an empty line>
/// <the signed checkpoint of size M>
/// ```
///
/// The older checkpoint is not repeated: the reader has kept it, and that is what makes the proof
/// worth anything.
public struct ConsistencyProofNote: Equatable, Sendable {
  static let header = "vault-consistency@v1"

  /// How many entries the older tree has.
  public let oldSize: UInt64
  package let hashes: [Digest32]
  /// The newer head, which the proof leads to; to be verified with a kept key.
  public let checkpoint: SignedCheckpoint

  /// - Precondition: the proof leads to the size of the checkpoint.
  package init(_ proof: ConsistencyProof, checkpoint: SignedCheckpoint) {
    precondition(proof.to == checkpoint.unverified.size)
    oldSize = proof.from
    hashes = proof.hashes
    self.checkpoint = checkpoint
  }

  /// Reads a proof.
  ///
  /// - Throws: ``ProofError/malformed(_:)``, or ``ProofError/note(_:)`` for the checkpoint.
  public init(parsing text: String) throws(ProofError) {
    var reader = try ProofReader(text)
    try reader.line(ConsistencyProofNote.header)
    oldSize = try reader.number("old")
    let newSize = try reader.number("new")
    hashes = try reader.hashes()
    checkpoint = try reader.checkpoint()
    guard checkpoint.unverified.size == newSize else {
      throw .malformed("new: not the size of the checkpoint")
    }
  }

  /// The proof as text; ends with a newline.
  public var text: String {
    var text = "\(ConsistencyProofNote.header)\n"
    text += "old \(oldSize)\nnew \(checkpoint.unverified.size)\n"
    for hash in hashes { text += "\(Base64.encode(hash.bytes))\n" }
    return text + "\n" + checkpoint.text
  }

  /// Checks that the tree of the proof's checkpoint, signed by `key`, begins with that of `old`.
  ///
  /// - Parameter old: a checkpoint of the same origin that was verified and kept.
  /// - Returns: The verified newer checkpoint.
  @discardableResult
  public func verify(
    from old: Checkpoint, with key: VerifierKey
  ) throws(ProofError) -> Checkpoint {
    let head: Checkpoint
    do { head = try checkpoint.verified(with: key) } catch { throw .note(error) }
    guard NoteText.same(old.origin, head.origin) else {
      throw .note(.wrongOrigin(expected: old.origin, found: head.origin))
    }
    guard old.size == oldSize else {
      throw .outOfRange("a proof from \(oldSize) for a checkpoint of \(old.size)")
    }
    let proof = ConsistencyProof(from: oldSize, to: head.size, hashes: hashes)
    try proof.verify(oldRoot: old.root, newRoot: head.root)
    return head
  }
}
