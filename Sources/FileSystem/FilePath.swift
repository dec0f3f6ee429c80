/// A path taken apart by its slashes, without asking the file system.
package struct FilePath {
  package let text: String

  package init(_ text: String) {
    var bytes = Array(text.utf8)
    while bytes.count > 1 && bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    self.text = String(decoding: bytes, as: UTF8.self)
  }

  /// Nil for "/", "." and "..".
  var lastComponent: String? {
    let name = text.utf8.lastIndex(of: UInt8(ascii: "/")).map {
      text[text.utf8.index(after: $0)...]
    }
    let component = String(name ?? text[...])
    return ["", ".", ".."].contains(component) ? nil : component
  }

  /// The directory that holds it: "." for a bare name, "/" for "/".
  package var parent: FilePath {
    guard lastComponent != nil else { return FilePath(text == "/" ? "/" : text + "/..") }
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return FilePath(".") }
    return FilePath(slash == text.startIndex ? "/" : String(text[..<slash]))
  }
}
