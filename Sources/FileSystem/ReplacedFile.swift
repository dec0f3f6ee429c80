import Glibc

/// A file that gets its name once all of it is written: until then what had that name stays as it was.
///
/// It is written beside its place, with mode 0600, and is gone where it was not finished; a process that
/// is killed leaves it under its other name. A device or a FIFO is written as it is.
package final class ReplacedFile: Sendable {
  private let file: Descriptor
  private let draft: String?
  private let place: String

  /// - Parameter suffix: Tells this draft from others of the same file.
  /// - Throws: ``FileError``: a directory stands there, a link that leads nowhere, or nothing can be
  ///   written there.
  package init(_ path: String, suffix: String) throws(FileError) {
    var place = path
    if try Files.inspect(path)?.kind == .symbolicLink { place = try Files.resolve(path) }
    self.place = place
    switch try Files.inspect(place)?.kind {
    case nil, .regular:
      let draft = "\(place).new-\(suffix)"
      self.draft = draft
      file = try Files.createNew(draft, mode: 0o600)
    case .directory:
      throw FileError(errno: EISDIR, operation: "open", path: place, kind: .notRegular)
    default:
      draft = nil
      file = try Files.openSpecial(place)
    }
  }

  /// Writes every byte behind what was written before.
  package func write(_ bytes: RawSpan) throws(FileError) { try file.write(bytes) }

  /// Hands what was written so far to `body`, piece by piece, until that answers false. Nothing of a
  /// device.
  package func readBack(_ body: (RawSpan) -> Bool) throws(FileError) {
    guard draft != nil else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var offset: Int64 = 0
    while true {
      var span = buffer.mutableSpan
      var raw = unsafe span.mutableBytes
      let count = try file.read(into: &raw, at: offset)
      if count == 0 { return }
      let piece = buffer.span.extracting(first: count)
      guard unsafe body(piece.bytes) else { return }
      offset += Int64(count)
    }
  }

  /// Gives it its name, in place of what had that name. The content is on the disk before the name.
  package func publish() throws(FileError) {
    guard let draft else { return }
    try file.synchronize()
    try Files.rename(draft, to: place)
  }

  /// Removes what was written. Nothing else may be called then.
  package func discard() {
    if let draft { try? Files.remove(draft) }
  }
}
