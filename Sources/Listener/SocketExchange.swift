internal import Sodium

/// One request of a ``SocketServer`` while it comes in. libmicrohttpd holds a reference to it from the
/// request's first line to its end.
final class SocketExchange {
  let target: String
  var afterwards: (@Sendable () -> Void)?
  /// Where it is served before its body is whole.
  var streamed: StreamedRequest?
  /// Bytes of the body so far, where they are handed on.
  var streamedCount: Int64 = 0
  /// The request's headers, once they were taken.
  var headers: Headers.Shown?
  private(set) var isBegun = false
  private var body = SecretBytes(count: 0)
  private var room = 0
  private var received = 0

  init(target: String) { self.target = target }

  func begin() { isBegun = true }

  /// Whether the announced length is within the limit. Nil where none was announced.
  func begin(length: String?, limit: Int) -> Bool {
    // libmicrohttpd has refused what is no number.
    guard let length, let bytes = UInt64(length) else { return true }
    return bytes <= UInt64(limit)
  }

  /// Takes a piece of the body. False where there was far too much: then no answer is read any more.
  func receive(_ piece: RawSpan, limit: Int) -> Bool {
    let before = received
    received += piece.byteCount
    guard received <= limit else { return received <= limit + Exchange.patience }
    if received > room {
      // The old place is wiped with its value.
      room = max(received, min(limit, room * 2), 1024)
      var larger = SecretBytes(count: room)
      larger.withMutableBytes { target in
        body.withBytes { old in Self.copy(old.extracting(0..<before), to: &target, at: 0) }
      }
      body = larger
    }
    body.withMutableBytes { Self.copy(piece, to: &$0, at: before) }
    return true
  }

  func isTooLong(_ limit: Int) -> Bool { received > limit }

  /// The whole body, which is then gone from here.
  func takeBody() -> SharedSecret {
    var taken = SecretBytes(count: 0)
    swap(&taken, &body)
    taken.truncate(to: min(received, taken.count))
    room = 0
    return SharedSecret(taken)
  }

  private static func copy(_ bytes: RawSpan, to target: inout MutableRawSpan, at start: Int) {
    for offset in 0..<bytes.byteCount {
      // A byte has no invalid form, and the offset is inside.
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      target.storeBytes(of: byte, toByteOffset: start + offset, as: UInt8.self)
    }
  }
}
