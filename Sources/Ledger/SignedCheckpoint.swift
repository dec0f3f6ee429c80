/// A checkpoint with its signatures, as it is printed, kept and passed on.
public struct SignedCheckpoint: Equatable, Sendable {
  /// The note as it was read, with the signatures of others.
  public let note: SignedNote
  /// What the text says. It means nothing before ``verified(with:)``.
  public let unverified: Checkpoint

  init(note: SignedNote, unverified: Checkpoint) {
    self.note = note
    self.unverified = unverified
  }

  /// Reads a signed checkpoint.
  ///
  /// - Throws: ``NoteError/malformed(_:)`` or ``NoteError/tooLarge``.
  public init(parsing text: String) throws(NoteError) {
    note = try SignedNote(parsing: text)
    unverified = try Checkpoint(text: note.text)
  }

  /// The signed note.
  public var text: String { note.formatted }

  /// The checkpoint, if `key` has signed it and is the key of its origin.
  ///
  /// Without the second check a head of another log (another branch, say) whose key the reader also
  /// trusts could be shown in place of this one's.
  ///
  /// - Throws: ``NoteError/notSigned(name:)``, ``NoteError/badSignature(name:)`` or
  ///   ``NoteError/wrongOrigin(expected:found:)``.
  public func verified(with key: VerifierKey) throws(NoteError) -> Checkpoint {
    try note.verify(with: key)
    guard NoteText.same(unverified.origin, key.name) else {
      throw .wrongOrigin(expected: key.name, found: unverified.origin)
    }
    return unverified
  }
}
