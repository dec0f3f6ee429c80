internal import CSystem
internal import Glibc
package import Sodium

/// A file or an open descriptor from which something is read once, to its end.
package struct InputSource: ~Copyable {
  /// As a message names it: a path, or `standard input`.
  package let name: String
  private let descriptor: Int32
  private let isOwned: Bool
  private let facts: vault_descriptor_facts
  private let timeout: Int64

  /// Milliseconds for the other end of a pipe to write all of it.
  static let timeout: Int64 = 300_000

  /// Opens a file. Symbolic links are followed: secrets are often mounted behind one. A FIFO may
  /// still lack its writer.
  ///
  /// - Throws: `notFound` where nothing is there, else `io`.
  package static func file(_ path: String) throws(CommandFailure) -> InputSource {
    let descriptor = unsafe vault_open_to_read(path)
    if descriptor < 0 {
      let error = errno
      let status: ExitStatus = error == ENOENT || error == ENOTDIR ? .notFound : .io
      throw CommandFailure(status, "\(path): \(SystemText.of(error))")
    }
    return try InputSource(descriptor, name: path, isOwned: true)
  }

  /// A descriptor that the caller of the command opened. It stays open.
  ///
  /// - Throws: `usage` where it is not open, or a terminal: what is typed would be shown.
  package static func descriptor(
    _ number: Int32, name: String
  ) throws(CommandFailure) -> InputSource {
    let source = try InputSource(number, name: name, isOwned: false)
    if vault_is_terminal(number) == 1 {
      throw CommandFailure(.usage, "\(name): a terminal, which would show what is typed")
    }
    return source
  }

  private init(_ descriptor: Int32, name: String, isOwned: Bool) throws(CommandFailure) {
    self.descriptor = descriptor
    self.name = name
    self.isOwned = isOwned
    timeout = Self.timeout
    var facts = vault_descriptor_facts()
    let error = unsafe vault_describe(descriptor, &facts)
    self.facts = facts
    if error != 0 {
      throw CommandFailure(
        error == EBADF ? .usage : .io,
        "\(name): \(error == EBADF ? "not open" : SystemText.of(error))")
    }
    if Int(facts.kind) == VAULT_KIND_DIRECTORY {
      throw CommandFailure(.usage, "\(name): a directory")
    }
  }

  deinit { if isOwned { vault_close(descriptor) } }

  var isRegularFile: Bool { Int(facts.kind) == VAULT_KIND_FILE }

  /// The permission bits.
  var mode: UInt32 { facts.mode }

  var owner: UInt32 { facts.owner }

  /// Reads to the end, straight into memory that is wiped.
  ///
  /// - Throws: `usage` beyond `limit` bytes, `io` where the system refuses or the other end of a
  ///   pipe is silent for five minutes.
  package borrowing func read(limit: Int) throws(CommandFailure) -> SecretBytes {
    var bytes = SecretBytes(count: limit + 1)
    var length = 0
    let error = bytes.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { buffer in
        // The buffer is the secret's own memory, lent until the closure returns.
        unsafe vault_read_to_end(
          descriptor, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count,
          timeout, &length)
      }
    }
    if error != 0 { throw CommandFailure(.io, "\(name): \(SystemText.of(error))") }
    if length > limit {
      throw CommandFailure(.usage, "\(name): more than \(limit) bytes")
    }
    bytes.truncate(to: length)
    return bytes
  }

  /// Reads the one line that is there: its bytes as they are, without the newline.
  ///
  /// - Throws: As ``read(limit:)``, and `usage` where it is empty or a second line follows.
  package borrowing func line() throws(CommandFailure) -> SecretBytes {
    let bytes = try read(limit: Self.lineLimit)
    return try SecretText.line(bytes, from: name)
  }

  /// The most that a line may have.
  static let lineLimit = 65_536
}
