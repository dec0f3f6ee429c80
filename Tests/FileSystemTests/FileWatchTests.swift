import FileSystem
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FileWatchTests {
  private func write(_ text: String, _ path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  @Test func `a file that is made, written, replaced or removed is told, each time once`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let watch = try FileWatch(["one"], in: directory.path)
    let changes: [() throws -> Void] = [
      { try write("a", directory("one")) },
      { try write("b", directory("one")) },
      {
        try write("c", directory("other"))
        #expect(rename(directory("other"), directory("one")) == 0)
      },
      { #expect(unlink(directory("one")) == 0) },
    ]
    for change in changes {
      try change()
      // Told although nobody waited when it happened.
      #expect(await watch.wait(milliseconds: 60_000))
      #expect(await !watch.wait(milliseconds: 0))
    }
  }

  @Test func `other files of the directory are passed over`() async throws {
    let directory = try TemporaryDirectory()
    let watch = try FileWatch(["one"], in: directory.path)
    try write("a", directory("one-other"))
    #expect(await !watch.wait(milliseconds: 50))
  }

  @Test func `a wait ends where its task is cancelled, and the next one waits again`() async throws
  {
    let directory = try TemporaryDirectory()
    let watch = try FileWatch(["one"], in: directory.path)
    let waiting = Task { await watch.wait(milliseconds: 3_600_000) }
    waiting.cancel()
    #expect(await !waiting.value)
    try write("a", directory("one"))
    #expect(await watch.wait(milliseconds: 60_000))
  }

  @Test func `a directory that is not there is an error`() throws {
    #expect(throws: FileError.self) { _ = try FileWatch(["one"], in: "/nowhere/at/all") }
  }
}
