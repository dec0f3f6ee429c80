import AccountVaultNetwork
import Foundation
import TestSupport
import Testing

/// Browsers here are real programs: scripts that write down what they were started with.
@Suite struct BrowserTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Makes a browser that tells its arguments, input, output and session in a file.
  private func browser(_ name: String) throws {
    let script = """
      #!/bin/bash
      files=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)
      { printf '<%s>' "$@"; echo
        echo "$files"
        [[ $(ps -o sid= -p $$) -eq $$ ]] && echo own session
        echo "$MARK"
      } >"$HOME/told.new" 2>&1
      echo noise; echo noise >&2
      mv "$HOME/told.new" "$HOME/told"
      """
    try directory.program(name, script)
  }

  private func open(_ address: String, _ variables: String...) -> Bool {
    Browser.open(
      address,
      environment: ["HOME=\(directory.path)", "PATH=\(directory.path):/usr/bin:/bin"] + variables)
  }

  /// What the browser told, once it has.
  private func told() async throws -> [String] {
    for _ in 0..<3000 {
      if let text = try? String(contentsOfFile: directory("told"), encoding: .utf8) {
        return text.split(separator: "\n").map(String.init)
      }
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    Issue.record("the browser was not started")
    return []
  }

  @Test func `the command of BROWSER gets the address last, and runs by itself`() async throws {
    try browser("firefox")
    let address = "https://example.org/authorize?a=b&c=$(touch%20x);d='e'"
    #expect(open(address, "BROWSER=firefox  --new-window", "MARK=here"))
    let lines = try await told()
    #expect(
      lines == [
        "<--new-window><\(address)>", "/dev/null", "/dev/null", "/dev/null", "own session", "here",
      ])
  }

  @Test func `it stands where the command says`() async throws {
    try browser("b")
    #expect(open("https://example.org/", "BROWSER=\(directory("b")) -u %s --at=%s!"))
    #expect(
      try await told().first == "<-u><https://example.org/><--at=https://example.org/!>")
  }

  @Test func `the first command that is there is taken`() async throws {
    try browser("second")
    #expect(open("http://127.0.0.1:8080/cb", "BROWSER=/nonexistent/first %s: second -x:third"))
    #expect(try await told().first == "<-x><http://127.0.0.1:8080/cb>")
  }

  @Test func `without BROWSER it is xdg-open, where there is a display`() async throws {
    try browser("xdg-open")
    #expect(!open("https://example.org/"))
    #expect(!open("https://example.org/", "DISPLAY="))
    #expect(open("https://example.org/", "WAYLAND_DISPLAY=wayland-0"))
    #expect(try await told().first == "<https://example.org/>")
  }

  @Test func `none that can be started is told`() {
    #expect(!open("https://example.org/", "BROWSER=nonexistent:/etc/passwd:/tmp", "DISPLAY=:0"))
    #expect(!open("https://example.org/", "BROWSER= : "))
  }

  @Test(arguments: [
    "file:///etc/passwd", "javascript:alert(1)", "--help", "", "http://example.org/",
    "http://127.0.0.1.example.org/", "http://127.0.0.1@example.org/", "http://localhost:x/",
    "https://example.org/ --flag", "https://example.org/\n", "https://example.org/ü", "HTTPS://x/",
  ]) func `no other address is handed to a program`(_ address: String) throws {
    try browser("b")
    #expect(!open(address, "BROWSER=b"))
  }

  @Test(arguments: ["http://localhost/", "http://[::1]:80/a", "http://127.0.0.1?x"])
  func `plain HTTP on this machine is opened`(_ address: String) async throws {
    try browser("b")
    #expect(open(address, "BROWSER=b"))
    #expect(try await told().first == "<\(address)>")
  }
}
