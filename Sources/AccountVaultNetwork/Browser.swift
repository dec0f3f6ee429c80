internal import CSystem
internal import FileSystem

/// The person's web browser.
package enum Browser {
  /// Opens an address: with the first command of `$BROWSER` that can be started (several stand apart
  /// by colons), or with `xdg-open` where that is not set and there is a display.
  ///
  /// No shell reads the command: it is split at its spaces, and the address is one argument, in the
  /// place of each `%s` or last. The browser runs on by itself and writes nowhere.
  ///
  /// - Parameters:
  ///   - address: `https`, or `http` on this machine. No other is ever handed to a program, which
  ///     might run it.
  ///   - environment: NAME=VALUE, what the browser gets and where `BROWSER`, `PATH`, `DISPLAY` and
  ///     `WAYLAND_DISPLAY` are looked up.
  /// - Returns: Whether a program was started, which says nothing about what it shows.
  package static func open(_ address: String, environment: [String]) -> Bool {
    guard mayOpen(address) else { return false }
    let path = value("PATH", environment) ?? "/usr/local/bin:/usr/bin:/bin"
    for command in commands(environment) {
      var words = command.split(separator: " ").map(String.init)
      guard let program = words.first, let file = find(program, path) else { continue }
      if words.contains(where: { $0.contains("%s") }) {
        words = words.map { replacing("%s", in: $0, with: address) }
      } else {
        words.append(address)
      }
      if start(file, words, environment) { return true }
    }
    return false
  }

  private static func commands(_ environment: [String]) -> [Substring] {
    if let own = value("BROWSER", environment) { return own.split(separator: ":") }
    let hasDisplay =
      value("DISPLAY", environment) != nil || value("WAYLAND_DISPLAY", environment) != nil
    return hasDisplay ? ["xdg-open"] : []
  }

  private static func mayOpen(_ address: String) -> Bool {
    guard address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return false }
    if address.hasPrefix("https://") { return true }
    guard address.hasPrefix("http://") else { return false }
    let host = address.dropFirst("http://".count).prefix { !"/?#".contains($0) }
    return ["127.0.0.1", "[::1]", "localhost"].contains { name in
      guard host.hasPrefix(name) else { return false }
      let port = host.dropFirst(name.count)
      return port.isEmpty
        || port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
  }

  /// An empty variable counts as one that is not set.
  private static func value(_ name: String, _ environment: [String]) -> String? {
    for entry in environment where entry.hasPrefix(name + "=") {
      let value = entry.dropFirst(name.utf8.count + 1)
      return value.isEmpty ? nil : String(value)
    }
    return nil
  }

  private static func find(_ program: String, _ path: String) -> String? {
    if program.contains("/") { return unsafe vault_may_run(program) == 1 ? program : nil }
    for folder in path.split(separator: ":") where folder.hasPrefix("/") {
      let file = "\(folder)/\(program)"
      if unsafe vault_may_run(file) == 1 { return file }
    }
    return nil
  }

  private static func replacing(_ mark: String, in word: String, with text: String) -> String {
    var result = ""
    var rest = word[...]
    while !rest.isEmpty {
      if rest.hasPrefix(mark) {
        result += text
        rest = rest.dropFirst(mark.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return result
  }

  private static func start(_ file: String, _ words: [String], _ environment: [String]) -> Bool {
    let error = ProcessHardening.withChildLimits {
      unsafe vault_spawn_detached(
        file, packed(words), Int32(words.count), packed(environment), Int32(environment.count))
    }
    return error == 0
  }

  /// One after the other, each ended by a NUL, of which the kernel lets none into an environment.
  private static func packed(_ texts: [String]) -> [CChar] {
    texts.flatMap { $0.utf8.map(CChar.init(bitPattern:)) + [0] }
  }
}
