import Glibc

/// An open file, closed when the value dies.
package struct Descriptor: ~Copyable, Sendable {
  /// The kernel's number. Owned by this value: nobody else closes it.
  package let rawValue: Int32

  /// As it was given at opening, for errors.
  package let path: String

  /// Takes over an open descriptor.
  package init(adopting rawValue: Int32, path: String) {
    self.rawValue = rawValue
    self.path = path
  }

  deinit { close(rawValue) }

  // MARK: Reading

  /// Reads what is there, from the present position.
  ///
  /// - Returns: How many bytes were put at the start of `buffer`; 0 at the end of the file.
  package borrowing func read(into buffer: inout MutableRawSpan) throws(FileError) -> Int {
    let number = rawValue
    return try unsafe buffer.withUnsafeMutableBytes { bytes throws(FileError) in
      try SystemCall.run("read", path) {
        unsafe Glibc.read(number, bytes.baseAddress, bytes.count)
      }
    }
  }

  /// Fills `buffer` from `offset` on, as far as the file goes; the position stays where it is.
  ///
  /// - Returns: How many bytes were read, fewer than the buffer holds only at the end of the file.
  package borrowing func read(
    into buffer: inout MutableRawSpan, at offset: Int64
  ) throws(FileError) -> Int {
    let number = rawValue
    return try unsafe buffer.withUnsafeMutableBytes { bytes throws(FileError) in
      var done = 0
      while done < bytes.count {
        let from = off_t(offset) + off_t(done)
        let count = try SystemCall.run("read", path) {
          unsafe pread(number, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done, from)
        }
        if count == 0 { break }
        done += count
      }
      return done
    }
  }

  /// Reads from the present position to the end.
  ///
  /// - Throws: ``FileError/Kind/tooLarge`` for more than `maximum` bytes, of which no more are read.
  package borrowing func readAll(maximum: Int) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    // One byte beyond, so that a file of just the maximum is told from a longer one.
    var chunk = [UInt8](repeating: 0, count: min(maximum, 65_535) + 1)
    while true {
      var span = chunk.mutableSpan
      var raw = unsafe span.mutableBytes
      let count = try read(into: &raw)
      if count == 0 { return bytes }
      if count > maximum - bytes.count {
        throw FileError(errno: EFBIG, operation: "read", path: path, kind: .tooLarge)
      }
      bytes += chunk[..<count]
    }
  }

  // MARK: Writing

  /// Writes every byte at the present position. After an error a part of them may be written.
  package borrowing func write(_ bytes: RawSpan) throws(FileError) {
    let number = rawValue
    try unsafe bytes.withUnsafeBytes { bytes throws(FileError) in
      var done = 0
      while done < bytes.count {
        done += try SystemCall.run("write", path) {
          unsafe Glibc.write(
            number, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done)
        }
      }
    }
  }

  /// ``write(_:)-(RawSpan)``.
  package borrowing func write(_ bytes: [UInt8]) throws(FileError) {
    try write(unsafe bytes.span.bytes)
  }

  /// Writes every byte from `offset` on; the position stays where it is.
  package borrowing func write(_ bytes: RawSpan, at offset: Int64) throws(FileError) {
    let number = rawValue
    try unsafe bytes.withUnsafeBytes { bytes throws(FileError) in
      var done = 0
      while done < bytes.count {
        let from = off_t(offset) + off_t(done)
        done += try SystemCall.run("write", path) {
          unsafe pwrite(
            number, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done, from)
        }
      }
    }
  }

  /// Gives the file `count` bytes of disk now, zeros where it had none, so that writing them later
  /// finds room. A file that is longer stays as it is.
  package borrowing func reserve(_ count: Int64) throws(FileError) {
    // posix_fallocate returns its error and leaves errno alone.
    var code = EINTR
    while code == EINTR { code = posix_fallocate(rawValue, 0, off_t(count)) }
    if code != 0 { throw FileError(errno: code, operation: "reserve", path: path) }
  }

  /// Cuts the file, or extends it by a hole, to `count` bytes.
  package borrowing func resize(to count: Int64) throws(FileError) {
    let number = rawValue
    _ = try SystemCall.run("resize", path) { ftruncate(number, off_t(count)) }
  }

  /// Sets the permission bits of the file itself, whatever its name means by now.
  package borrowing func setMode(_ mode: UInt32) throws(FileError) {
    let number = rawValue
    _ = try SystemCall.run("change mode", path) { fchmod(number, mode) }
  }

  // MARK: The disk

  /// Returns once the content, and the size where it matters for reading it, is on the disk
  /// (fdatasync).
  package borrowing func synchronize() throws(FileError) {
    let number = rawValue
    _ = try SystemCall.run("synchronize", path) { fdatasync(number) }
  }

  /// Returns once the content and all facts about the file are on the disk (fsync).
  package borrowing func synchronizeFully() throws(FileError) {
    let number = rawValue
    _ = try SystemCall.run("synchronize", path) { fsync(number) }
  }

  /// The size in bytes now.
  package var size: Int64 {
    get throws(FileError) { try facts().size }
  }

  /// What the kernel says about the open file itself.
  package borrowing func facts() throws(FileError) -> FileFacts {
    let number = rawValue
    var status = stat()
    _ = try SystemCall.run("inspect", path) { unsafe fstat(number, &status) }
    return FileFacts(status)
  }
}
