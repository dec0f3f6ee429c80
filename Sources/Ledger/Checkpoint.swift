package import Encoding
package import Sodium

/// The head of a ledger: which log, how many entries, and the root over all of them.
///
/// As text it is a C2SP tlog-checkpoint without extension lines, so that witnesses and other
/// transparency tools can read it: origin, size in decimal, root in base64, each on a line.
public struct Checkpoint: Equatable, Sendable {
  /// `vault/<vault id>/<branch>`. A restored or moved vault starts a new branch, because a log must
  /// never sign two heads of one size.
  public let origin: String
  /// How many entries the tree has.
  public let size: UInt64
  package let root: Digest32

  /// - Precondition: `origin` has no spaces, control characters or plus, so that it can name the
  ///   key too; `size` is at most 2^63 − 1.
  package init(origin: String, size: UInt64, root: Digest32) {
    precondition(NoteText.isKeyName(origin) && size <= UInt64(Int64.max))
    self.origin = origin
    self.size = size
    self.root = root
  }

  /// The origin of a branch of a vault.
  package static func origin(vault: Key16, branch: Key16) -> String {
    "vault/\(vault.base32)/\(branch.base32)"
  }

  /// The root in base64.
  public var rootText: String { Base64.encode(root.bytes) }

  /// The text that is signed.
  public var text: String { "\(origin)\n\(size)\n\(rootText)\n" }

  /// Reads the text of a checkpoint.
  ///
  /// Extension lines are refused: no ledger of this product signs any.
  ///
  /// - Throws: ``NoteError/malformed(_:)``.
  init(text: String) throws(NoteError) {
    guard let lines = NoteText.lines(text), lines.count == 3 else {
      throw .malformed("checkpoint: lines")
    }
    let origin = String(lines[0])
    guard NoteText.isKeyName(origin) else { throw .malformed("checkpoint: origin") }
    guard let size = NoteText.number(lines[1]) else { throw .malformed("checkpoint: size") }
    guard let root = NoteText.digest(lines[2]) else { throw .malformed("checkpoint: root") }
    self.init(origin: origin, size: size, root: root)
  }

  /// Signs the checkpoint with the ledger's key, whose name is the origin.
  ///
  /// To be called for a committed head only: a signed head that a crash then undoes is the first of
  /// two heads of one size.
  package func signed(by key: borrowing SigningKey) -> SignedCheckpoint {
    SignedCheckpoint(
      note: SignedNote(text: text, signedBy: key, name: origin), unverified: self)
  }
}
