internal import CSystem
internal import Glibc
package import Sodium

/// The terminal on which a person is asked, apart from standard input and output.
///
/// Whether there is one is known at once. A question has a deadline, so that one that nobody sees
/// ends.
package struct Question: ~Copyable {
  private let descriptor: Int32
  private let timeout: Int64

  /// Longer than any passphrase, and what a terminal's own line editing takes.
  private static let lineLimit = 4096

  /// - Throws: `locked` where nobody can be asked: no terminal, or this process runs in the
  ///   background of one. Nothing waits.
  package init(_ invocation: Invocation) throws(CommandFailure) {
    let path = invocation.terminalPath
    let opened = path.map { unsafe vault_terminal_open($0) } ?? -1
    guard opened >= 0 else { throw CommandFailure(.locked, "no terminal to ask on") }
    descriptor = opened
    timeout = invocation.questionTimeout
  }

  deinit { vault_close(descriptor) }

  /// Asks for a secret; what is typed is not shown.
  ///
  /// The bytes go from the kernel into the result and are copied nowhere. An empty answer is one.
  package borrowing func secret(_ prompt: String) throws(CommandFailure) -> SecretBytes {
    try ask(prompt, echo: false)
  }

  /// Asks for a number that is of use once: what is typed is shown, and is copied nowhere.
  package borrowing func line(_ prompt: String) throws(CommandFailure) -> SecretBytes {
    try ask(prompt, echo: true)
  }

  /// Asks for a text.
  package borrowing func text(_ prompt: String) throws(CommandFailure) -> String {
    let line = try ask(prompt, echo: true)
    let text: String? = line.withBytes { span in
      unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw CommandFailure(.usage, "the answer is not UTF-8") }
    return text
  }

  /// Asks for a yes or a no; again after anything else, three times in all.
  package borrowing func yes(_ prompt: String) throws(CommandFailure) -> Bool {
    for _ in 1...3 {
      switch try text("\(prompt) [y/n] ").lowercased() {
      case "y", "yes": return true
      case "n", "no": return false
      default: continue
      }
    }
    throw Self.noAnswer
  }

  /// Has the person choose one of several; its index.
  package borrowing func choice(_ prompt: String, of choices: [String]) throws(CommandFailure)
    -> Int
  {
    let list = choices.enumerated().map { "  \($0.offset + 1)  \(EscapedText.of($0.element))\n" }
    for _ in 1...3 {
      let answer = try text(list.joined() + "\(prompt) [1-\(choices.count)] ")
      if let number = Int(answer), (1...choices.count).contains(number) { return number - 1 }
    }
    throw Self.noAnswer
  }

  private static let noAnswer = CommandFailure(.usage, "no answer that could be understood")

  private borrowing func ask(_ prompt: String, echo: Bool) throws(CommandFailure) -> SecretBytes {
    var line = SecretBytes(count: Self.lineLimit)
    var length = 0
    var error: Int32 = 0
    let result = line.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { buffer in
        // The buffer is the secret's own memory, lent until the closure returns.
        let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = unsafe vault_terminal_ask(
          descriptor, prompt, echo ? 1 : 0, start, buffer.count, timeout, &length)
        error = errno
        return Int(result)
      }
    }
    switch result {
    case VAULT_LINE_READ:
      line.truncate(to: length)
      return line
    case VAULT_LINE_END:
      throw CommandFailure(.locked, "the question was not answered")
    case VAULT_LINE_TIMEOUT:
      throw CommandFailure(.locked, "the question was not answered in time")
    case VAULT_LINE_TOO_LONG:
      throw CommandFailure(.usage, "the answer has more than \(Self.lineLimit) bytes")
    default: throw CommandFailure(.locked, "the terminal: \(SystemText.of(error))")
    }
  }
}
