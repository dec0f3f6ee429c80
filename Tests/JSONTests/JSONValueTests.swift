import JSON
import SQLite
import Testing

@Suite struct `A JSON value` {
  @Test func `is written in one line with its members in order`() {
    let value: JSONValue = [
      "z": 1, "a": [true, false, nil, "x", [:], []], "id": .number("18446744073709551616"),
      "quo\"te": .int(.min),
    ]
    #expect(
      value.text
        == #"{"z":1,"a":[true,false,null,"x",{},[]],"id":18446744073709551616,"quo\"te":-9223372036854775808}"#
    )
  }

  @Test func `is what its text is read back as`() throws {
    let text =
      #"{"a":[1,-0,1.50,1e400,9223372036854775807,9223372036854775808],"b":{"c":"é\n\u0001"},"b2":null}"#
    let value = try JSONValue.parse(text)
    #expect(value.text == text)
    #expect(try JSONValue.parse(value.text) == value)
    #expect(
      value["a"]
        == [
          1, .number("-0"), .number("1.50"), .number("1e400"), .int(.max),
          .number("9223372036854775808"),
        ])
    #expect(value["b"]?["c"] == "é\n\u{1}")
    #expect(value["none"] == nil)
    #expect(value["b"]?["c"]?["d"] == nil)
  }

  @Test func `has every name once`() {
    #expect(throws: JSONError.duplicateMember("b")) {
      try JSONValue.parse(#"{"a":[{"b":1,"b":1}]}"#)
    }
    #expect(throws: JSONError.tooLarge) { try JSONValue.parse("[1]", maximumBytes: 2) }
    #expect(throws: JSONError.malformed("not JSON")) { try JSONValue.parse("[1") }
  }

  @Test func `quotes each character as SQLite does`() throws {
    let connection = try Connection.inMemory()
    let quote = try connection.prepare("SELECT json_quote(?1)")
    var compared = 0
    for code in UInt32(0)...0xFFFF {
      guard let scalar = Unicode.Scalar(code) else { continue }
      for string in [String(scalar), "a\(scalar)\u{301}\"\\"] {
        quote.bind(1, text: string)
        let found = try quote.step()
        try #require(found)
        try #require(JSONValue.string(string).text == quote.text(0), "U+\(String(code, radix: 16))")
        quote.reset()
      }
      compared += 1
    }
    #expect(compared == 0x10000 - 0x800)
  }

  @Test func `is read back from its text for every character but NUL`() throws {
    var all = ""
    for code in UInt32(1)...0xFFFF {
      if let scalar = Unicode.Scalar(code) { all.unicodeScalars.append(scalar) }
    }
    let value = JSONValue.string(all)
    #expect(try JSONValue.parse(value.text) == value)
    #expect(throws: JSONError.malformed("an escaped NUL")) {
      try JSONValue.parse(JSONValue.string("\0").text)
    }
  }
}
