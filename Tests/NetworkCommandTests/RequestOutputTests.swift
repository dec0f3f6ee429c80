import Foundation
import Listener
import TestSupport
import Testing

@testable import Command

@Suite struct `The answer to a request` {
  @Test func `is written beside its file, which is replaced in one step`() throws {
    let place = try RequestPlace()
    place.on("/me", .json(#"{"id":"9"}"#))
    let file = try place.directory.text("me.json", "before", mode: 0o644)
    let ended = try place.request("GET", place.url("/me"), "-o", file)
    #expect(ended.status == 0, "\(ended.error)")
    #expect(ended.output.isEmpty)
    #expect(try place.text("me.json") == #"{"id":"9"}"#)
    let facts = try FileManager.default.attributesOfItem(atPath: file)
    #expect(facts[.posixPermissions] as? Int == 0o600)
    #expect(try !place.directory.names().contains { $0.contains(".new-") })
    // A device is written as it is.
    #expect(try place.request("GET", place.url("/me"), "-o", "/dev/null").status == 0)
    #expect(try Files.isDevice("/dev/null"))
    let shown = try place.request("GET", place.url("/me"), "-o", "-")
    #expect(shown.output == #"{"id":"9"}"#)
  }

  @Test func `that is a refusal leaves the file as it was`() throws {
    let place = try RequestPlace()
    place.on("/bad", .json(#"{"error":"bad"}"#, status: 400))
    place.on("/drop", .drop)
    let file = try place.directory.text("me.json", "before")
    let refused = try place.request("GET", place.url("/bad"), "-o", file)
    #expect(refused.status == 1)
    #expect(refused.output == #"{"error":"bad"}"#)
    let dropped = try place.request("GET", place.url("/drop"), "-o", file)
    #expect(dropped.status == 75)
    #expect(try place.text("me.json") == "before")
    #expect(try !place.directory.names().contains { $0.contains(".new-") })
  }

  @Test func `is not asked for where its place cannot be written`() throws {
    let place = try RequestPlace()
    place.on("/me", .json("{}"))
    for path in [place.directory("missing/me"), place.directory.path, "/proc/me"] {
      let ended = try place.request("GET", place.url("/me"), "-o", path)
      #expect(ended.status == 74, "\(ended.error)")
    }
    #expect(place.requests.isEmpty)
    let full = try place.request("GET", place.url("/me"), "-o", "/dev/full")
    #expect(full.status == 74)
    #expect(full.error.contains("no space left on device"))
  }

  @Test func `ends quietly where nobody reads it`() throws {
    let place = try RequestPlace()
    place.on("/much", HTTPServer.Response(200, headers: Self.binary, body: Self.much))
    let process = place.process(["request", "--app", "123", "GET", place.url("/much")])
    let (output, error) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    try process.run()
    try output.fileHandleForWriting.close()
    _ = output.fileHandleForReading.availableData
    try output.fileHandleForReading.close()
    let text = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 74)
    #expect(text.isEmpty, "\(String(decoding: text, as: UTF8.self))")
  }

  @Test func `passes through whole, and needs no more memory the longer it is`() throws {
    let place = try RequestPlace()
    place.on("/much", HTTPServer.Response(200, headers: Self.binary, body: Self.much))
    let process = place.process(["request", "--app", "123", "GET", place.url("/much")])
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try output.fileHandleForWriting.close()
    var count = 0
    var most = 0
    while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
      count += data.count
      // More is to come than a pipe and a socket hold, so the process still runs.
      if most == 0, count > 80 << 20 { most = try Self.mostMemory(process.processIdentifier) }
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(count == Self.much.count)
    #expect(most > 0 && most < 72 << 20, "\(most)")
  }

  @Test(arguments: [SIGKILL, SIGTERM, SIGINT])
  func `that is cut off by a signal is no file`(_ signal: Int32) throws {
    let place = try RequestPlace()
    place.on("/slow", .json("{}").after(milliseconds: 25_000))
    let file = try place.directory.text("me.json", "before")
    let process = place.process([
      "request", "--app", "123", "GET", place.url("/slow"), "-o", file,
    ])
    process.standardOutput = FileHandle.nullDevice
    let error = Pipe()
    process.standardError = error
    try process.run()
    let end = Date() + 60
    while place.requests.isEmpty, Date() < end { usleep(10_000) }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(try place.text("me.json") == "before")
    guard signal != SIGKILL else { return }
    #expect(process.terminationReason == .exit && process.terminationStatus == 75)
    #expect(try !place.directory.names().contains { $0.contains(".new-") })
    #expect(try place.run(["verify"]).status == 0)
  }

  @Test func `cannot steer a terminal, and is the bytes themselves elsewhere`() throws {
    let body = "a\u{1b}[2Jb\u{9b}c\u{7f}ä\t\r\n"
    var visible = VisibleBytes()
    let halves = [Array(body.utf8.prefix(7)), Array(body.utf8.dropFirst(7))]
    var shown: [UInt8] = []
    for half in halves { shown += visible.shown(half.span.bytes) }
    #expect(String(decoding: shown, as: UTF8.self) == "a\\u{1B}[2Jb\\u{9B}c\\u{7F}ä\t\r\n")
    let place = try RequestPlace()
    place.on("/me", .text(body))
    #expect(try place.request("GET", place.url("/me")).output == body)
  }

  private static let binary = [("Content-Type", "application/octet-stream")]
  /// 96 MiB
  private static let much = [UInt8](repeating: 0x61, count: 96 << 20)

  /// The most memory that a process had so far, in bytes.
  private static func mostMemory(_ process: Int32) throws -> Int {
    let handle = try #require(FileHandle(forReadingAtPath: "/proc/\(process)/status"))
    let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return (Int(line.split(separator: " ")[1].filter(\.isNumber)) ?? 0) << 10
  }
}

private enum Files {
  static func isDevice(_ path: String) throws -> Bool {
    let type = try FileManager.default.attributesOfItem(atPath: path)[.type]
    return type as? FileAttributeType == .typeCharacterSpecial
  }
}
