import Testing

@testable import OAuth

/// Field case B53.
@Suite struct `A request's address` {
  @Test(arguments: [
    ("HTTP://EXAMPLE.com:80/r%20v/X?id=123#f", "http://example.com/r%20v/X"),
    ("https://www.example.net:8080/?q=1", "https://www.example.net:8080/"),
    ("http://example.com:8080/p", "http://example.com:8080/p"),
    ("https://example.com:443/p", "https://example.com/p"),
    ("https://example.com:80/p", "https://example.com:80/p"),
    ("http://example.com:443/p", "http://example.com:443/p"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com?a=b", "https://example.com/"),
    ("https://example.com#f", "https://example.com/"),
    ("https://example.com:/p", "https://example.com/p"),
    ("https://[2001:DB8::1]/p", "https://[2001:db8::1]/p"),
    ("https://[::1]:8443/p", "https://[::1]:8443/p"),
    ("https://[::1]:443/p", "https://[::1]/p"),
    ("https://example.com//a/../b/./c", "https://example.com//a/../b/./c"),
    ("https://example.com/a%2fb%2Fc", "https://example.com/a%2fb%2Fc"),
    ("https://example.com/a@b:c", "https://example.com/a@b:c"),
  ])
  func `has a base string URI`(_ url: String, _ expected: String) throws {
    #expect(try RequestURL(url).base == expected)
  }

  @Test(arguments: [
    "https://user@example.com/", "https://user:password@example.com/",
    "https://example.com@evil.example/", "https://", "https:///p", "https://:443/", "example.com/p",
    "/p", "", "ftp://example.com/", "file:///etc/passwd", "https://exa mple.com/",
    "https://example.com/a b", "https://example.com/ä", "https://example.com/a\nb",
    "https://example.com:65536/", "https://example.com:0/", "https://example.com:-1/",
    "https://example.com:80a/", "https://example.com:000443/", "https://[::1", "https://[::1]a/",
    "https://[zz]/", "https://[]/", "https://example.com\\@evil.example/",
    "https://example%2ecom/", "javascript://example.com/%0aalert(1)",
  ])
  func `is refused where two programs could read it in two ways`(_ url: String) {
    #expect(throws: OAuthError.self) { try RequestURL(url) }
  }

  @Test func `has the host that the Host header names`() throws {
    let url = try RequestURL("http://127.0.0.1:9000/p?q=1", hostHeader: "Example.com:80")
    #expect(url.base == "http://example.com/p")
    #expect(url.text == "http://127.0.0.1:9000/p?q=1")
    #expect(throws: OAuthError.self) {
      try RequestURL("http://127.0.0.1/", hostHeader: "a@example.com")
    }
  }

  @Test func `is private over TLS, and at this machine's literal address`() throws {
    for (url, isPrivate) in [
      ("https://example.com/", true), ("http://127.0.0.1:80/", true), ("http://[::1]/", true),
      ("http://localhost/", false), ("http://127.0.0.1.example.com/", false),
      ("http://example.com/", false),
    ] {
      #expect(try RequestURL(url).isPrivate == isPrivate, "\(url)")
    }
  }

  @Test func `keeps its own query and takes more`() throws {
    let more = [("a", "x y"), ("b", "~&")]
    #expect(
      try RequestURL("https://h.example/p").adding(more) == "https://h.example/p?a=x%20y&b=~%26")
    #expect(
      try RequestURL("https://h.example/p?c=%31").adding(more)
        == "https://h.example/p?c=%31&a=x%20y&b=~%26")
    #expect(throws: OAuthError.repeatedParameter("a")) {
      try RequestURL("https://h.example/p?a=1").adding(more)
    }
    #expect(throws: OAuthError.badURL("a fragment")) {
      try RequestURL("https://h.example/p#f").adding(more)
    }
  }
}
