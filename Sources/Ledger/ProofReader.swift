import Encoding

/// Reads the lines of a proof's text, strictly: each line is in its place and has its one form.
struct ProofReader {
  private var lines: ArraySlice<Substring>
  private let note: String

  /// - Throws: ``ProofError/malformed(_:)`` where the text is too long or has no checkpoint.
  init(_ text: String) throws(ProofError) {
    let bytes = Array(text.utf8)
    guard bytes.count <= SignedNote.maximumBytes else { throw .malformed("too long") }
    // The first empty line: none of the proof's own lines is empty.
    guard
      let end = bytes.indices.dropLast().first(where: {
        bytes[$0] == NoteText.newline && bytes[$0 + 1] == NoteText.newline
      }),
      let lines = NoteText.lines(String(decoding: bytes[...end], as: UTF8.self))
    else { throw .malformed("no checkpoint") }
    self.lines = lines[...]
    note = String(decoding: bytes[(end + 2)...], as: UTF8.self)
  }

  /// Reads a line that is fixed.
  mutating func line(_ fixed: String) throws(ProofError) {
    guard let line = lines.popFirst(), NoteText.same(line, fixed) else {
      throw .malformed("first line")
    }
  }

  /// The value of a line `name value`, if the next line is one.
  mutating func optionalValue(_ name: String) -> String? {
    guard let line = lines.first, line.utf8.starts(with: "\(name) ".utf8) else { return nil }
    lines.removeFirst()
    return String(decoding: Array(line.utf8.dropFirst(name.utf8.count + 1)), as: UTF8.self)
  }

  /// Reads a line `name number`.
  mutating func number(_ name: String) throws(ProofError) -> UInt64 {
    guard let value = optionalValue(name), let number = NoteText.number(value) else {
      throw .malformed(name)
    }
    return number
  }

  /// Reads the remaining lines, a hash each.
  mutating func hashes() throws(ProofError) -> [Digest32] {
    guard lines.count <= 2 * MerkleTree.maximumLevels else { throw .wrongLength }
    var hashes: [Digest32] = []
    while let line = lines.popFirst() {
      guard let hash = NoteText.digest(line) else { throw .malformed("hash") }
      hashes.append(hash)
    }
    return hashes
  }

  /// Reads the checkpoint behind the empty line.
  func checkpoint() throws(ProofError) -> SignedCheckpoint {
    do { return try SignedCheckpoint(parsing: note) } catch { throw .note(error) }
  }
}
