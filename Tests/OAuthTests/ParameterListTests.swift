import Encoding
import Foundation
import Sodium
import Testing

@testable import OAuth

@Suite struct `A list of parameters` {
  /// Another implementation, on Foundation's characters, to compare with.
  func reference(_ pairs: [(String, String)]) -> String {
    let kept = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return pairs.map {
      (
        $0.0.addingPercentEncoding(withAllowedCharacters: kept)!,
        $0.1.addingPercentEncoding(withAllowedCharacters: kept)!
      )
    }.sorted {
      $0.0 == $1.0
        ? Array($0.1.utf8).lexicographicallyPrecedes(Array($1.1.utf8))
        : Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8))
    }.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
  }

  func random(_ generator: inout SystemRandomNumberGenerator) -> String {
    let characters = Array("aab~ +%&=!'()*-._/?#ÄéЖ☃😀\n\u{0}Zz09")
    return String(
      (0..<Int.random(in: 0...6, using: &generator)).map { _ in
        characters.randomElement(using: &generator)!
      })
  }

  @Test func `normalizes the same whatever its order, as another implementation does`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let pairs = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        (random(&generator), random(&generator))
      }
      let expected = reference(pairs)
      #expect(normalized(pairs) == expected)
      #expect(normalized(pairs.shuffled(using: &generator)) == expected)
      // The same from a query, in either spelling of a space.
      for encoding in [PercentEncoding.strict, .form] {
        var list = ParameterList()
        try list.append(
          query: pairs.shuffled(using: &generator).map {
            encoding.encode($0.0) + "=" + encoding.encode($0.1)
          }.joined(separator: "&"))
        let text = list.normalized().string
        #expect(text == expected)
      }
      // What the base string holds is this, encoded once more, in the room that was counted for it.
      let list = parameters(pairs)
      let encoded = PercentEncoding.strict.encode(expected)
      let count = list.encodedCount
      #expect(count == encoded.utf8.count)
      #expect(OAuth1Request.baseString("GET", "u", list).string == "GET&u&" + encoded)
    }
  }

  @Test func `keeps equal names, empty names and empty values`() {
    #expect(normalized([("foo", "3"), ("foo", "2"), ("foo", "1")]) == "foo=1&foo=2&foo=3")
    #expect(normalized([("q", "")]) == "q=")
    #expect(normalized([("", "v")]) == "=v")
    #expect(normalized([]) == "")
    #expect(normalized([("a", "1"), ("a", "1")]) == "a=1&a=1")
  }

  @Test func `is ordered by encoded bytes and not by characters`() {
    // 😀 begins with F0 and ﬀ with EF, but UTF-16 orders them the other way round.
    #expect(normalized([("😀", ""), ("ﬀ", "")]) == "%EF%AC%80=&%F0%9F%98%80=")
    // `~` is itself, behind letters; `!` is an escape, before them.
    #expect(normalized([("~", ""), ("a", ""), ("!", "")]) == "%21=&a=&~=")
    // A shorter name first, though `=` would sort behind `-`.
    #expect(normalized([("a-", "1"), ("a", "2")]) == "a=2&a-=1")
  }

  @Test func `is large, and is still ordered`() {
    let pairs = (0..<5000).map { (String($0), String(repeating: "x", count: 10)) }
    #expect(normalized(pairs.shuffled()) == reference(pairs))
  }

  @Test(arguments: [
    "Basic x", "OAuth", "OAuth a", "OAuth a=b", "OAuth a=\"b", "OAuth a=\"b\" c=\"d\"",
    "OAuth =\"b\"",
  ])
  func `takes no header that is not well formed`(_ header: String) {
    #expect(throws: OAuthError.self) {
      var list = ParameterList()
      try list.append(authorization: header)
    }
  }
}
