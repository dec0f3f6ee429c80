package import Encoding
import Sodium

/// A proof that stands on its own: an inclusion proof and the checkpoint that it leads to, in the
/// C2SP tlog-proof format.
///
/// ```
/// c2sp.org/tlog-proof@v1
/// index N
/// <hashes in base64, from the leaf's sibling up to the child of the root>
/// <an empty line>
/// <the signed checkpoint>
/// ```
///
/// Whoever has the leaf and the ledger's key can check it without the vault.
public struct InclusionProofNote: Equatable, Sendable {
  static let header = "c2sp.org/tlog-proof@v1"

  /// The entry's number.
  public let index: UInt64
  package let hashes: [Digest32]
  /// The head that the proof leads to; to be verified with a kept key.
  public let checkpoint: SignedCheckpoint
  /// What the optional line `extra` holds. Nothing vouches for it, and this product writes none.
  public let extra: [UInt8]?

  /// - Precondition: the proof is for the size of the checkpoint.
  package init(_ proof: InclusionProof, checkpoint: SignedCheckpoint) {
    precondition(proof.size == checkpoint.unverified.size)
    index = proof.number
    hashes = proof.hashes
    self.checkpoint = checkpoint
    extra = nil
  }

  /// Reads a proof.
  ///
  /// - Throws: ``ProofError/malformed(_:)``, or ``ProofError/note(_:)`` for the checkpoint.
  public init(parsing text: String) throws(ProofError) {
    var reader = try ProofReader(text)
    try reader.line(InclusionProofNote.header)
    if let encoded = reader.optionalValue("extra") {
      guard let bytes = Base64.decode(encoded) else { throw .malformed("extra") }
      extra = bytes
    } else {
      extra = nil
    }
    index = try reader.number("index")
    hashes = try reader.hashes()
    checkpoint = try reader.checkpoint()
  }

  /// The proof as text; ends with a newline.
  public var text: String {
    var text = "\(InclusionProofNote.header)\n"
    if let extra { text += "extra \(Base64.encode(extra))\n" }
    text += "index \(index)\n"
    for hash in hashes { text += "\(Base64.encode(hash.bytes))\n" }
    return text + "\n" + checkpoint.text
  }

  /// Checks that the leaf stands at ``index`` of the tree of a checkpoint signed by `key`.
  ///
  /// - Parameter leaf: the canonical bytes of the leaf.
  /// - Returns: The verified checkpoint.
  @discardableResult
  public func verify(leaf: [UInt8], with key: VerifierKey) throws(ProofError) -> Checkpoint {
    let head: Checkpoint
    do { head = try checkpoint.verified(with: key) } catch { throw .note(error) }
    let proof = InclusionProof(number: index, size: head.size, hashes: hashes)
    let leafHash = leaf.withBytes { MerkleTree.leafHash($0) }
    try proof.verify(leafHash: leafHash, root: head.root)
    return head
  }
}
