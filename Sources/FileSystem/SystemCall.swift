import Glibc

/// Runs system calls the one way: paths without NUL, interruptions repeated, `errno` read at once.
enum SystemCall {
  /// Runs `call` until a signal no longer cuts it off. Negative results are errors.
  static func run<Count: SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> Count
  ) throws(FileError) -> Count {
    while true {
      let result = call()
      if result >= 0 { return result }
      let number = errno
      if number != EINTR { throw FileError(errno: number, operation: operation, path: path) }
    }
  }

  /// ``run(_:_:_:)`` with the path as a C string.
  ///
  /// A path with a NUL in it is refused: the kernel would see only what stands before it.
  @discardableResult
  static func run(
    _ operation: String, path: String, _ call: (UnsafePointer<CChar>) -> Int32
  ) throws(FileError) -> Int32 {
    if path.isEmpty { throw FileError(errno: ENOENT, operation: operation, path: path) }
    if path.utf8.contains(0) { throw FileError(errno: EINVAL, operation: operation, path: path) }
    while true {
      let (result, number) = unsafe path.withCString { name in
        let result = unsafe call(name)
        return (result, result < 0 ? errno : 0)
      }
      if result >= 0 { return result }
      if number != EINTR { throw FileError(errno: number, operation: operation, path: path) }
    }
  }
}
