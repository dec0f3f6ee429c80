import Foundation
import Testing

@Suite struct `A page that names tests` {
  private let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The names in the last column of its tables, the ones that show a control.
  private func named(in page: String) throws -> [String] {
    let page = root.appending(path: page)
    return try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("| ") }
      .flatMap { row -> [String] in
        let cells = row.split(separator: "|", omittingEmptySubsequences: false)
        return cells[cells.count - 2].split(separator: "`", omittingEmptySubsequences: false)
          .enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
      }
  }

  @Test(arguments: ["Documentation/Threats.md", "Documentation/Controls.md"])
  func `names tests that there are`(page: String) throws {
    let names = try named(in: page)
    #expect(names.count > 20)
    var sources = ""
    let tests = root.appending(path: "Tests")
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      sources += try String(contentsOf: file, encoding: .utf8)
    }
    for name in Set(names) {
      #expect(
        sources.contains("func `\(name)`") || sources.contains("struct `\(name)`"), "\(name)")
    }
  }
}
