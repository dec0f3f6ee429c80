package import Encoding
import Sodium

/// Why a proof does not hold.
public enum ProofError: Error, Equatable, Sendable {
  /// The text does not have the form of the specification; says which part and how.
  case malformed(String)
  /// The index lies outside the tree, or the sizes do not follow each other.
  case outOfRange(String)
  /// The proof has more or fewer hashes than the sizes ask for.
  case wrongLength
  /// The hashes lead to another root.
  case rootMismatch(RootMismatch)
  /// The checkpoint that the proof leads to is not signed as it should be.
  case note(NoteError)
}

/// The two roots that should have been the same: the evidence that a ledger was altered or forked.
public struct RootMismatch: Error, Equatable, Sendable, CustomStringConvertible {
  /// The size of the tree that both claim to be the root of.
  public let size: UInt64
  /// What the hashes lead to.
  package let computed: Digest32
  /// What was claimed.
  package let expected: Digest32

  package init(size: UInt64, computed: Digest32, expected: Digest32) {
    self.size = size
    self.computed = computed
    self.expected = expected
  }

  /// What the hashes lead to, in base64 as in a checkpoint.
  public var computedText: String { Base64.encode(computed.bytes) }
  /// What was claimed, in base64 as in a checkpoint.
  public var expectedText: String { Base64.encode(expected.bytes) }

  public var description: String {
    "at size \(size) the root is \(computedText), not \(expectedText)"
  }
}
