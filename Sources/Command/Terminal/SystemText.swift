internal import CSystem
internal import Glibc

/// What the kernel's error numbers mean to a person.
package enum SystemText {
  static let brokenPipe = EPIPE

  /// "no space left on device": lower case, as messages are.
  package static func of(_ error: Int32) -> String {
    // The buffer is this closure's; the C function ends it with a NUL.
    let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let start = buffer.baseAddress else { return "error \(error)" }
      return unsafe String(cString: vault_error_text(error, start, buffer.count))
    }
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
