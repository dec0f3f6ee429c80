import Foundation
import Testing

/// A copy of the project's files, in which a test may break a rule.
private struct Copy: ~Copyable {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("project-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let copied = try run(
      """
      cd "$ROOT"
      git ls-files --cached --others --exclude-standard -z | sort -zu |
        while IFS= read -r -d '' file; do [[ ! -f $file ]] || printf '%s\\0' "$file"; done |
        xargs -0 cp --parents -t "$COPY"
      cd "$COPY"
      git init -q
      """, environment: ["ROOT": root.path, "COPY": directory.path])
    try #require(copied.status == 0, "\(copied.output)")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  borrowing func append(_ text: String, to path: String) throws {
    let file = directory.appendingPathComponent(path)
    let before = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try (before + text).write(to: file, atomically: true, encoding: .utf8)
  }

  borrowing func run(
    _ script: String, environment: [String: String] = [:]
  ) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-euo", "pipefail", "-c", script]
    process.currentDirectoryURL = directory
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (output, process.terminationStatus)
  }
}

/// One rule of `Scripts/check`, and a line that breaks it.
struct Breach: CustomTestStringConvertible {
  var rule: String
  var line: String
  var file: String
  var testDescription: String { "\(rule): \(line.prefix(50))" }

  static let all = [
    Breach(rule: "an import against", line: "import Command", file: "Sources/Ledger/New1.swift"),
    Breach(
      rule: "an import against", line: "package import Store", file: "Sources/Ledger/New2.swift"),
    Breach(
      rule: "an import against", line: "@preconcurrency import CSodium",
      file: "Sources/Store/New3.swift"),
    Breach(
      rule: "an import against", line: "import func Glibc.exit", file: "Sources/Ledger/New4.swift"),
    Breach(rule: "an import against", line: "import Encoding", file: "Sources/Unknown/New5.swift"),
    Breach(
      rule: "an import against", line: "import FoundationEssentials",
      file: "Sources/Command/New13.swift"),
    Breach(
      rule: "unsafe in a part", line: "let x = unsafe y.span.bytes",
      file: "Sources/vault/New6.swift"
    ),
    Breach(
      rule: "unsafe in a part", line: "unsafe x.withUnsafeBytes { $0 }",
      file: "Sources/Ledger/New7.swift"),
    Breach(rule: "a trap on data", line: "let x = try! y()", file: "Sources/Ledger/New8.swift"),
    Breach(rule: "a trap on data", line: "  fatalError(\"x\")", file: "Sources/Ledger/New9.swift"),
    Breach(rule: "output past", line: "  print(token)", file: "Sources/Command/New10.swift"),
    Breach(
      rule: "Foundation in a product", line: "import Foundation",
      file: "Sources/Command/New11.swift"),
    Breach(rule: "unfinished", line: "// TO\("DO"): later", file: "Sources/Ledger/New12.swift"),
    Breach(
      rule: "the host of a package registry", line: "see https://py\("pi").org/project/x",
      file: "README.md"),
    Breach(rule: "a link that leads nowhere", line: "[x](Nowhere.md)", file: "CONTRIBUTING.md"),
    Breach(
      rule: "a link that leads nowhere", line: "[x](../README.md)", file: "Documentation/New/a.md"),
    Breach(
      rule: "over 500 lines", line: String(repeating: "//\n", count: 500),
      file: "Tests/New/New13.swift"),
    Breach(
      rule: "swift format lint", line: "let  x=1", file: "Sources/Ledger/New14.swift"),
    Breach(
      rule: "a released migration", line: "\(String(repeating: "0", count: 64))  m0001_vault.sql",
      file: "Migrations/CHECKSUMS"),
  ]
}

@Suite struct `The check` {
  /// What it says of a copy in which every rule is broken at once.
  private static let broken = Result {
    let copy = try Copy()
    for breach in Breach.all { try copy.append(breach.line + "\n", to: breach.file) }
    return try copy.run("Scripts/check")
  }

  @Test(arguments: Breach.all)
  func `names the rule that is broken, and the file`(_ breach: Breach) throws {
    let (output, status) = try Self.broken.get()
    #expect(status == 1)
    // Below the rule stand its breaches, indented, up to the next rule.
    let lines = output.components(separatedBy: "\n")
    let rule = try #require(lines.firstIndex { $0.hasPrefix(breach.rule) }, "\(output)")
    let below = lines[(rule + 1)...].prefix { $0.hasPrefix("  ") }
    let name = breach.file.hasSuffix("CHECKSUMS") ? "m0001_vault.sql" : breach.file
    #expect(below.contains { $0.contains(name) }, "\(output)")
  }

  @Test func `finds a place on this machine`() throws {
    let copy = try Copy()
    try copy.append("see \(copy.directory.path)/x\n", to: "README.md")
    let (output, status) = try copy.run("Scripts/check")
    #expect(status == 1)
    #expect(output.contains("a place on this machine:\n  README.md:"), "\(output)")
  }

  @Test func `takes what every rule allows`() throws {
    let copy = try Copy()
    try copy.append(
      """
      import Encoding
      internal import Sodium
      import Synchronization

      /// Says `unsafe` and print( in a comment, where neither does harm.
      enum Allowed {
        static let fingerprint = 1
      }

      """, to: "Sources/Ledger/Allowed.swift")
    try copy.append("\n[a](Documentation/Parts.md#the-parts) `[b](nowhere)`\n", to: "README.md")
    let (output, _) = try copy.run("Scripts/check")
    #expect(!output.contains("Allowed.swift"), "\(output)")
    #expect(!output.contains("README.md"), "\(output)")
  }
}
