import Foundation
import JSON
import Sodium
import Testing

/// Parses a text; the document cannot go into an expectation, so the caller reads from it first.
func document(_ text: String, maximumBytes: Int = 262_144) throws -> JSONText {
  try document(Array(text.utf8), maximumBytes: maximumBytes)
}

func document(_ bytes: [UInt8], maximumBytes: Int = 262_144) throws -> JSONText {
  try JSONText(bytes.span.bytes, maximumBytes: maximumBytes)
}

/// What parsing `bytes` ends with; nil when it succeeds.
func refusal(_ bytes: [UInt8], maximumBytes: Int = 262_144) -> JSONError? {
  do {
    _ = try JSONText(bytes.span.bytes, maximumBytes: maximumBytes)
    return nil
  } catch {
    return error
  }
}

@Suite struct `A JSON text` {
  @Test func `gives its members in order, nested and typed`() throws {
    let text = try document(
      #" {"a":[1,"x",{"b":true,"c":[]},{}],"d":null,"e":{"f":false},"":-1.5e3} "#)
    let root = text.root
    let kind = text.kind(root)
    #expect(kind == .object)
    let members = text.members(root)
    #expect(members.map(\.name) == ["a", "d", "e", ""])
    let kinds = members.map { text.kind($0.node) }
    #expect(kinds == [.array, .null, .object, .number])
    let elements = text.elements(members[0].node)
    let elementKinds = elements.map { text.kind($0) }
    #expect(elementKinds == [.number, .string, .object, .object])
    let inner = try text.member(elements[2], "b")
    let flag = inner.flatMap { text.bool($0) }
    #expect(flag == true)
    let deep = try text.member(members[2].node, "f")
    let path = deep.map { text.path($0) }
    #expect(path == "$.e.f")
    let elementPath = try text.member(elements[2], "c").map { text.path($0) }
    #expect(elementPath == "$.a[2].c")
    let number = text.numberText(members[3].node)
    #expect(number == "-1.5e3")
    let absent = try text.member(root, "x")
    #expect(absent == nil)
  }

  @Test func `reads another kind as nothing`() throws {
    let text = try document(#"["s",1,true,null,{},[]]"#)
    let nodes = text.elements(text.root)
    let strings = nodes.map { text.string($0) }
    #expect(strings == ["s", nil, nil, nil, nil, nil])
    let numbers = nodes.map { text.numberText($0) }
    #expect(numbers == [nil, "1", nil, nil, nil, nil])
    let bools = nodes.map { text.bool($0) }
    #expect(bools == [nil, nil, true, nil, nil, nil])
    let secrets = nodes.map { node in
      let secret = text.secret(node)
      return secret != nil
    }
    #expect(secrets == [true, false, false, false, false, false])
    let members = text.members(text.root).count
    #expect(members == 0)
    do {
      _ = try text.member(nodes[0], "a")
      Issue.record("a string has no members")
    } catch {
      #expect(error == .wrongType(path: "$[0]"))
    }
  }

  @Test(arguments: ["1", "\"s\"", "true", "false", "null", "[]", "{}", " 0 ", "\r\n\t[1]"])
  func `may be any value`(_ text: String) {
    #expect(refusal(Array(text.utf8)) == nil)
  }

  @Test(arguments: [
    "9007199254740993", "18446744073709551616", "-9223372036854775808", "1e400", "-1E-400", "-0",
    "0.10", "123456789012345678901234567890.5e+10", "1.0",
  ])
  func `keeps a number as it was written`(_ number: String) throws {
    let text = try document(#"{"1":"2, 3","id":\#(number),"x":[\#(number) , 7]}"#)
    let id = try text.member(text.root, "id").flatMap { text.numberText($0) }
    #expect(id == number)
    let list = try #require(try text.member(text.root, "x"))
    let both = text.elements(list).map { text.numberText($0) }
    #expect(both == [number, "7"])
  }

  @Test func `undoes escapes, surrogate pairs too`() throws {
    let text = try document(
      #"["\"\\\/\b\f\n\r\t","\u00e9\u20ac\uD83D\ude00","é€😀","\\u0000","\u0001\u007f\uffff"]"#)
    let strings = text.elements(text.root).map { text.string($0) }
    #expect(
      strings == [
        "\"\\/\u{8}\u{c}\n\r\t", "é€😀", "é€😀", "\\u0000", "\u{1}\u{7f}\u{ffff}",
      ])
  }

  @Test func `lends a secret's bytes as they are`() throws {
    let text = try document(#"{"access_token":"2.00\u00e9","empty":""}"#)
    let node = try #require(try text.member(text.root, "access_token"))
    if let secret = text.secret(node) {
      let isEqual = secret.withBytes { bytes in
        bytes.withUnsafeBytes { $0.elementsEqual("2.00é".utf8) }
      }
      #expect(isEqual)
    } else {
      Issue.record("there is no secret")
    }
    let other = try #require(try text.member(text.root, "empty"))
    let count = text.secret(other)?.count
    #expect(count == 0)
  }

  @Test func `shows duplicates, and refuses those of a member that is used`() throws {
    let text = try document(#"{"access_token":"A","x":1,"access_token":"B","\u0061ccess":2}"#)
    let members = text.members(text.root)
    #expect(members.map(\.name) == ["access_token", "x", "access_token", "access"])
    let values = members.map { text.string($0.node) }
    #expect(values == ["A", nil, "B", nil])
    let other = try text.member(text.root, "x")
    #expect(other != nil)
    do {
      _ = try text.member(text.root, "access_token")
      Issue.record("the duplicate was not refused")
    } catch {
      #expect(error == .duplicateMember("access_token"))
    }
    // A name that is written with an escape is the same name.
    #expect(throws: JSONError.duplicateMember("a")) {
      try JSONValue.parse(#"{"a":1,"\u0061":2}"#)
    }
  }

  @Test func `tells names by their code points, not by how they look`() throws {
    let text = try document("{\"e\u{301}\":1,\"\u{e9}\":2}")
    let composed = try text.member(text.root, "\u{e9}").flatMap { text.numberText($0) }
    #expect(composed == "2")
  }

  @Test(arguments: [
    "", " ", "x", "NaN", "[NaN]", "Infinity", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1",
    "0x10",
    "1 2", "[1,]", "[1,,2]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\"}", "{\"a\":}", "{a:1}", "{1:2}",
    "'a'", "// x\n1", "/* x */ 1", "\u{feff}1", "\"\\x\"", "\"\\u00g0\"", "\"\\u00\"", "\"a",
    "\"\\\"",
    "\"\u{1}\"", "\"\n\"", "[tru]", "truefalse", "True", "nul", "\u{c}1", "\u{a0}1", "{\"a\":1}x",
    "[]]",
    "[", "{", "]", "[}", "{]", "1-2", "[1-2]", "1.2.3", "--1", "\"a\"\"b\"", "{\"a\":1 \"b\":2}",
  ])
  func `that is not RFC 8259 is refused`(_ text: String) {
    let error = refusal(Array(text.utf8))
    guard case .malformed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(
    arguments: [
      ([0x22, 0xff, 0x22], "not UTF-8"), ([0x22, 0xc0, 0x80, 0x22], "not UTF-8"),
      ([0x22, 0xed, 0xa0, 0x80, 0x22], "not UTF-8"), ([0x22, 0xe2, 0x82], "not UTF-8"),
      ([0x31, 0], "a NUL byte"), ([0x22, 0, 0x22], "a NUL byte"), ([0], "a NUL byte"),
      (Array(#""a\u0000b""#.utf8), "an escaped NUL"),
      (Array(#"{"\u0000":1}"#.utf8), "an escaped NUL"),
      (Array(#""\\\u0000""#.utf8), "an escaped NUL"),
      (Array(#""\ud800""#.utf8), "half of a surrogate pair"),
      (Array(#""\udc00""#.utf8), "half of a surrogate pair"),
      (Array(#""\uD83Dx""#.utf8), "half of a surrogate pair"),
      (Array(#""\uD83D\n""#.utf8), "half of a surrogate pair"),
      (Array(#""\uD83D\ud83d\ude00""#.utf8), "half of a surrogate pair"),
      (Array(#""\ude00\uD83D""#.utf8), "half of a surrogate pair"),
    ] as [([UInt8], String)])
  func `with bytes that readers disagree on is refused`(_ bytes: [UInt8], _ reason: String) {
    #expect(refusal(bytes) == .malformed(reason))
  }

  @Test func `of a million opening brackets is refused at once, on the smallest stack`()
    async throws
  {
    let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)
    let clock = ContinuousClock()
    let time = clock.measure {
      #expect(refusal(brackets) == .tooLarge)
      #expect(refusal(brackets, maximumBytes: .max) == .tooDeep)
      let objects = Array(String(repeating: "{\"a\":", count: 200_000).utf8)
      #expect(refusal(objects, maximumBytes: .max) == .tooDeep)
    }
    #expect(time < .seconds(1))
  }

  @Test func `is as deep as the maximum and no deeper`() {
    func nested(_ depth: Int) -> [UInt8] {
      [UInt8](repeating: UInt8(ascii: "["), count: depth)
        + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
    }
    #expect(refusal(nested(JSONText.maximumDepth)) == nil)
    #expect(refusal(nested(JSONText.maximumDepth + 1)) == .tooDeep)
    #expect(refusal(Array("[\"[[[[\",\"\(String(repeating: "[", count: 500))\"]".utf8)) == nil)
  }

  @Test func `is as long as the maximum and no longer`() {
    #expect(refusal(Array("[1, 2]".utf8), maximumBytes: 6) == nil)
    #expect(refusal(Array("[1, 2]".utf8), maximumBytes: 5) == .tooLarge)
  }

  @Test func `full of small values is read in a time that grows with its length`() throws {
    let text = "[" + String(repeating: "{\"a\":[0,\"\"]},", count: 18_000) + "0]"
    let clock = ContinuousClock()
    let time = try clock.measure {
      let parsed = try document(text)
      let count = parsed.elements(parsed.root).count
      #expect(count == 18_001)
    }
    #expect(time < .seconds(5))
  }

  @Test func `can be parsed by many threads at once`() async throws {
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<32 {
        group.addTask {
          for round in 0..<50 {
            guard let text = try? document("[\(task),\"\(round)\"]") else { return false }
            let nodes = text.elements(text.root)
            let read = (text.numberText(nodes[0]), text.string(nodes[1]))
            if read != ("\(task)", "\(round)") { return false }
          }
          return true
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test func `never shows a value in its error`() {
    for text in [#"{"token":"canary-4711""#, #"["canary-4711\ud800"]"#, #"{"a":canary-4711}"#] {
      let error = refusal(Array(text.utf8))
      #expect(error.map { "\($0)" }?.contains("canary") == false)
    }
  }
}
