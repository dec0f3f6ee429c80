import Foundation
import Listener
import TestSupport
import Testing

@testable import Command

@Suite struct `The command that sends a request` {
  @Test func `puts parameters into the query or a form, and prints the body`() throws {
    let place = try RequestPlace()
    place.on("/me", .json(#"{"id":"9"}"#))
    place.on("/feed", .json(#"{"id":"10"}"#, status: 201))
    let read = try place.request(
      "GET", place.url("/me?a=b"), "-d", "fields=id,name", "-d", "q=a b&c", "-d", "empty=")
    #expect(read.status == 0, "\(read.error)")
    #expect(read.output == #"{"id":"9"}"#)
    #expect(read.error.isEmpty)
    let write = try place.request(
      "--perms", "post", "POST", place.url("/feed"), "--data", "message=@home = here",
      "-dmessage=again", "-H", "X-Own: 1", "--account", "own:lestat")
    #expect(write.status == 0, "\(write.error)")
    #expect(write.output == #"{"id":"10"}"#)
    let requests = place.requests
    #expect(requests.count == 2)
    #expect(requests[0].target == "/me?a=b&fields=id%2Cname&q=a%20b%26c&empty=")
    #expect(requests[0].header("Authorization") == "Bearer at-0")
    // With -d an @ is a letter like any other.
    #expect(requests[1].form.map(\.value) == ["@home = here", "again"])
    #expect(requests[1].header("X-Own") == "1")
    #expect(requests[1].header("Content-Type") == "application/x-www-form-urlencoded")
    let history = try place.run(["history", "--event", "token_used", "--json"])
    #expect(history.output.contains("request: POST \(place.server.url)"))
    #expect(history.output.split(separator: "\n").count == 2)
  }

  @Test func `sends a multipart form with files`() throws {
    let place = try RequestPlace()
    place.on("/photos", .json("{}"))
    let photo = try place.directory.text("sea.jpg", "\u{0}\u{1}--binary--\r\n")
    let ended = try place.request(
      "POST", place.url("/photos"), "-F", "source=@\(photo)", "-F", "caption=Sea", "-d", "raw=@x")
    #expect(ended.status == 0, "\(ended.error)")
    let request = try #require(place.requests.first)
    #expect(request.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
    for piece in [
      "name=\"source\"; filename=\"sea.jpg\"", "\u{0}\u{1}--binary--\r\n", "name=\"caption\"",
      "\r\nSea\r\n", "name=\"raw\"", "\r\n@x\r\n",
    ] {
      #expect(request.text.contains(piece), "\(piece)")
    }
    let missing = try place.request(
      "POST", place.url("/photos"), "-F", "source=@\(place.directory("missing"))")
    #expect(missing.status == 66, "\(missing.error)")
    #expect(place.requests.count == 1)
  }

  @Test func `sends a body of JSON as it is, from a file or standard input`() throws {
    let place = try RequestPlace()
    place.on("/posts", .json("{}"))
    let body = try place.directory.text("body.json", "{ \"text\" : \"ä\" }\n")
    #expect(try place.request("POST", place.url("/posts"), "--json-body", body).status == 0)
    #expect(
      try place.request("PUT", place.url("/posts"), "--json-body", "-", input: body).status == 0)
    #expect(place.requests.map(\.text) == ["{ \"text\" : \"ä\" }\n", "{ \"text\" : \"ä\" }\n"])
    #expect(place.requests.map(\.method) == ["POST", "PUT"])
    #expect(place.requests.allSatisfy { $0.header("Content-Type") == "application/json" })
    let missing = try place.request(
      "POST", place.url("/posts"), "--json-body", place.directory("missing"))
    #expect(missing.status == 66, "\(missing.error)")
  }

  @Test func `prints status and headers first where it is asked to`() throws {
    let place = try RequestPlace()
    place.on("/me", .json("{}", headers: [("X-Rate", "7")]))
    let ended = try place.request("-i", "GET", place.url("/me"))
    #expect(ended.output.hasPrefix("HTTP/1.1 200 \r\n"))
    #expect(ended.output.contains("X-Rate: 7\r\n"))
    #expect(ended.output.hasSuffix("\r\n\r\n{}"))
    let head = try place.request("HEAD", place.url("/me"), "-i")
    #expect(head.status == 0)
    #expect(head.output.hasSuffix("\r\n\r\n"))
  }

  @Test func `hands out what the provider refused with, and says what it means`() throws {
    let place = try RequestPlace()
    place.on("/bad", .json(#"{"error":"bad"}"#, status: 400))
    place.on("/slow", .json(#"{"error":"slow"}"#, status: 429, headers: [("Retry-After", "60")]))
    place.on("/broken", .text("down", status: 503))
    place.on("/ours", .json("{}", status: 302, headers: [("Location", "/me?access_token=at-0")]))
    for (path, status, body) in [
      ("/bad", 1, #"{"error":"bad"}"#), ("/broken", 75, "down"), ("/ours", 78, "{}"),
      ("/slow", 75, #"{"error":"slow"}"#),
    ] {
      let ended = try place.request("GET", place.url(path), "--json")
      #expect(ended.status == status, "\(path): \(ended.error)")
      #expect(ended.output == body)
      #expect(ended.error.contains("vault: error: Own refused the request"))
      #expect(ended.error.split(separator: "\n").last?.hasPrefix(#"{"error":{"code":""#) == true)
      #expect(!ended.error.contains("at-0"))
    }
    // A try that the provider named a time for may be waited for.
    place.on("/turn") { [server = place.server] _ in
      server.requests.filter { $0.path == "/turn" }.count == 1
        ? .json(#"{"error":"slow"}"#, status: 429, headers: [("Retry-After", "1")])
        : .json(#"{"ok":1}"#)
    }
    let waited = try place.request("GET", place.url("/turn"), "--max-wait", "10s")
    #expect(waited.status == 0, "\(waited.error)")
    #expect(waited.output == #"{"ok":1}"#)
  }

  @Test func `renews a credential that has expired, once`() throws {
    let place = try RequestPlace()
    place.on("/token", .json(#"{"access_token":"at-1","token_type":"bearer","expires_in":3600}"#))
    place.on("/me") { request in
      request.header("Authorization") == "Bearer at-1"
        ? .json(#"{"id":"9"}"#) : .json(#"{"error":"old"}"#, status: 400)
    }
    let ended = try place.request("GET", place.url("/me"))
    #expect(ended.status == 0, "\(ended.error)")
    #expect(ended.output == #"{"id":"9"}"#)
    #expect(place.requests.count == 2)
    #expect(try place.run(["verify"]).status == 0)
  }

  @Test func `shows what it would send, and sends and records nothing`() throws {
    let place = try RequestPlace()
    let shown = try place.request(
      "--dry-run", "POST", place.url("/feed"), "-d", "message=Hello", "-H", "X-Own: 1")
    #expect(shown.status == 0, "\(shown.error)")
    #expect(shown.output.hasPrefix("POST \(place.url("/feed"))\nAuthorization: Bearer …\n"))
    #expect(shown.output.contains("X-Own: 1\n"))
    #expect(shown.output.hasSuffix("\n\n13 bytes\n"))
    let refused = try place.run([
      "request", "--app", "9", "--account", "own:lestat", "--dry-run", "GET", place.url("/me"),
    ])
    #expect(refused.status == 66 || refused.status == 80, "\(refused.error)")
    #expect(place.server.requests.isEmpty)
    let history = try place.run(["history", "--json"])
    #expect(!history.output.contains("token_used") && !history.output.contains("use_refused"))
    let query = try RequestPlace(#""renewal":{"method":"refresh_token"},"token_in":"query""#)
    let inQuery = try query.request("--dry-run", "GET", query.url("/me?a=b"))
    #expect(inQuery.output == "GET \(query.url("/me?a=b&access_token=…"))\n", "\(inQuery.error)")
    #expect(!(inQuery.output + shown.output).contains("at-0"))
  }

  @Test func `believes the provider that a young credential has expired`() throws {
    let place = try RequestPlace(
      #""renewal":{"method":"refresh_token","minimum_age_seconds":86400}"#)
    place.on("/token", .json(#"{"error":"invalid_grant"}"#, status: 400))
    place.on("/me", .json(#"{"error":"old"}"#, status: 400))
    let ended = try place.request("GET", place.url("/me"))
    #expect(ended.status == 82, "\(ended.error)")
    #expect(ended.output == #"{"error":"old"}"#)
    #expect(place.server.requests.map(\.path) == ["/me", "/token"])
    #expect(try place.request("GET", place.url("/me")).status == 82)
    #expect(place.server.requests.count == 2)
  }

  @Test func `takes a credential that is gone for rejected`() throws {
    let place = try RequestPlace()
    place.on("/me", .json(#"{"error":"gone"}"#, status: 400))
    let ended = try place.request("GET", place.url("/me"))
    #expect(ended.status == 82)
    #expect(ended.output == #"{"error":"gone"}"#)
    #expect(ended.error.contains("hint: vault sign-in "))
    // The app's access was lost on the site.
    #expect(try place.request("GET", place.url("/me")).status == 81)
    #expect(place.requests.count == 1)
  }

  @Test func `sends nothing that it may not`() throws {
    let place = try RequestPlace()
    place.on("/me", .json("{}"))
    let me = place.url("/me")
    #expect(try place.run(["request", "--app", "9", "GET", me]).status == 66)
    try place.do("add-app", "9", "--name", "Nine")
    #expect(try place.run(["request", "--app", "9", "--perms", "post", "GET", me]).status == 80)
    try place.do("deny", "--app", "9", "--perms", "post", "--account", "own:lestat")
    #expect(try place.run(["request", "--app", "9", "--perms", "post", "GET", me]).status == 77)
    try place.do("revoke", "--app", "123", "--perms", "post", "--account", "own:lestat")
    #expect(try place.request("--perms", "post", "GET", me).status == 81)
    try place.do("add-account", "--type", "own", "--username", "louis")
    try place.do("grant", "--app", "123", "--perms", "profile", "--account", "own:louis")
    #expect(try place.request("--perms", "profile", "GET", me).status == 83)
    #expect(try place.request("--account", "own:louis", "GET", me).status == 82)
    let other = try place.request("--account", "own:lestat", "GET", "http://127.0.0.1:9/me")
    #expect(other.status == 78)
    #expect(try place.request("--account", "own:nobody", "GET", me).status == 66)
    #expect(place.requests.isEmpty)
  }

  @Test(arguments: [
    ["BREW", "/me"], ["get", "/me"], ["GET"], ["GET", "/me", "-d", "novalue"],
    ["GET", "/me", "-d", "=x"], ["GET", "/me", "-F", "a=b"], ["POST", "/me", "-F", "a=@"],
    ["GET", "/me", "-H", "none"], ["GET", "/me", "-H", "Host: x"],
    ["GET", "/me", "--json-body", "-"],
    ["POST", "/me", "-F", "a=b", "--json-body", "-"], ["GET", "/me", "--max-wait", "soon"],
    ["GET", "/me#part"], ["GET", "/me", "-d", "access_token=secret-1"],
    ["GET", "/me?access_token=secret-1"], ["GET", "/me", "-H", "Authorization: Bearer secret-1"],
    ["GET", "/me", "-HAuthorization: Bearer secret-1"],
    ["GET", "/me", "--header=authorization:Bearer secret-1"],
    ["GET", "/me", "-H", "Cookie: secret-1"],
    ["GET", "/me", "-o", ""], ["GET", "/me", "-d", "a=b", "-x"],
  ])
  func `refuses what it cannot send`(_ arguments: [String]) throws {
    let place = try RequestPlace()
    let words = arguments.map { $0.hasPrefix("/") ? place.url($0) : $0 }
    let ended = try place.run(["request", "--app", "123"] + words)
    #expect(ended.status == 64, "\(ended.error)")
    #expect(ended.output.isEmpty)
    #expect(!ended.error.contains("secret-1"))
    #expect(place.requests.isEmpty)
  }
}
