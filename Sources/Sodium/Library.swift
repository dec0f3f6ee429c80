internal import CSodium

/// libsodium itself.
enum Library {
  private static let status = sodium_init()

  /// Makes libsodium ready, once per process, before anything else of it is called: it opens the
  /// source of randomness and chooses the fastest code for this processor.
  ///
  /// Without randomness there is nothing safe left to do, so a failure ends the process.
  @inline(__always)
  static func start() {
    precondition(status >= 0, "libsodium finds no source of randomness")
  }
}
