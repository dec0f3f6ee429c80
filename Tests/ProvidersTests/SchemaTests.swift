import Foundation
import Providers
import Testing

@Suite struct `The documentation of a definition` {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func schema() throws -> [String: Any] {
    let data = try Data(contentsOf: root.appending(path: "Documentation/provider.schema.json"))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  /// The schema's object at a place of ``DefinitionMembers/known``.
  static func object(_ kind: String) throws -> [String: Any] {
    let schema = try schema()
    if kind.isEmpty { return schema }
    if kind == "range" {
      return try #require((schema["$defs"] as? [String: Any])?["range"] as? [String: Any])
    }
    let properties = try #require(schema["properties"] as? [String: Any])
    if kind.hasSuffix("[]") {
      let list = try #require(properties[String(kind.dropLast(2))] as? [String: Any])
      return try #require(list["items"] as? [String: Any])
    }
    if kind.hasSuffix(".*") {
      let map = try #require(properties[String(kind.dropLast(2))] as? [String: Any])
      return try #require(map["additionalProperties"] as? [String: Any])
    }
    return try #require(properties[kind] as? [String: Any])
  }

  @Test(arguments: DefinitionMembers.known.keys.sorted())
  func `has every member that the parser knows, and no other`(_ kind: String) throws {
    let known = Set(DefinitionMembers.known[kind] ?? [])
    let object = try Self.object(kind)
    let properties = try #require(object["properties"] as? [String: Any])
    #expect(Set(properties.keys) == known)
    #expect(object["additionalProperties"] as? Bool == false)
    let page = try String(
      contentsOf: Self.root.appending(path: "Documentation/Providers.md"), encoding: .utf8)
    let prefix =
      kind.isEmpty ? "" : kind.replacingOccurrences(of: ".*", with: ".NAME") + "."
    for member in known where DefinitionMembers.known[member] == nil || !kind.isEmpty {
      let inner = DefinitionMembers.known.keys.contains {
        kind.isEmpty && ($0 == member || $0.hasPrefix("\(member)["))
      }
      #expect(inner || page.contains("`\(prefix)\(member)`"), "\(prefix)\(member)")
    }
  }

  @Test(arguments: DefinitionMembers.words.keys.sorted())
  func `lists every word that the parser takes, and no other`(_ path: String) throws {
    let words = Set(DefinitionMembers.words[path] ?? [])
    let split = path.lastIndex(of: ".")
    let kind = split.map { String(path[..<$0]) } ?? ""
    let member = split.map { String(path[path.index(after: $0)...]) } ?? path
    let properties = try #require(try Self.object(kind)["properties"] as? [String: Any])
    let listed = try #require((properties[member] as? [String: Any])?["enum"] as? [Any])
    #expect(Set(listed.compactMap { $0 as? String }) == words)
    let page = try String(
      contentsOf: Self.root.appending(path: "Documentation/Providers.md"), encoding: .utf8)
    for word in words { #expect(page.contains("`\(word)`"), "\(word)") }
  }

  /// A member that the table knows and the parser never reads would be taken with any value.
  @Test(arguments: DefinitionMembers.known.keys.filter { $0 != "range" }.sorted())
  func `tells of no member that the parser passes over`(_ kind: String) throws {
    for member in DefinitionMembers.known[kind] ?? [] {
      let wrong = #"[[7]]"#
      let path: String
      let text: String
      if kind.isEmpty {
        guard member != "id", member != "protocol" else { continue }
        path = member
        text = #""\#(member)": \#(wrong)"#
      } else if kind == "permissions.*" {
        path = "permissions.a.\(member)"
        let group = member == "group" ? "" : #""group": "read", "#
        text = #""permissions": {"a": {\#(group)"\#(member)": \#(wrong)}}"#
      } else if kind.hasSuffix("[]") {
        let list = kind.dropLast(2)
        path = "\(list)[0].\(member)"
        let rest =
          list == "errors"
          ? ["code": "1", "class": #""config""#]
          : ["reset": #""x""#, "unit": #""minutes_in_json""#, "member": #""m""#]
        let members = rest.filter { $0.key != member }.map { #""\#($0.key)": \#($0.value)"# }
        text =
          #""\#(list)": [{\#((members + [#""\#(member)": \#(wrong)"#]).joined(separator: ", "))}]"#
      } else {
        path = "\(kind).\(member)"
        text = #""\#(kind)": {"\#(member)": \#(wrong)}"#
      }
      do {
        _ = try Provider.parse(#"{"id": "a", "protocol": "oauth2", \#(text)}"#)
        Issue.record("\(path) was taken with \(wrong)")
      } catch {
        #expect(error.member.hasPrefix(path), "\(path): \(error)")
      }
    }
  }
}
