/// A path in the forms that SQLite takes as a file and as nothing else.
///
/// Debian compiles `USE_URI` in: a name that begins with `file:` is a URI whatever the flags say, and
/// `:memory:` and the empty name are databases that vanish. A path typed by a person must never
/// become one of those.
struct DatabaseName {
  /// For `sqlite3_open_v2` without `SQLITE_OPEN_URI`.
  let plain: String

  /// Nil for a path that cannot name a file: empty, or with a NUL in it.
  init?(_ path: String) {
    guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
    plain = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
  }

  /// A URI of the same file with `immutable=1`, every byte escaped that could end its path.
  var immutableURI: String {
    // An empty authority keeps a path that begins with "//" from being read as a host.
    let isAbsolute = plain.utf8.first == UInt8(ascii: "/")
    var uri: [UInt8] = Array((isAbsolute ? "file://" : "file:").utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in plain.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        uri.append(byte)
      default:
        uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: uri, as: UTF8.self) + "?immutable=1"
  }
}
