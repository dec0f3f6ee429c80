internal import CMicroHTTPD
internal import Glibc
internal import Sodium

/// The body of an answer on its way to libmicrohttpd.
@safe final class PieceSource {
  /// Nil where the length is not known before the end.
  let count: Int64?
  private let body: SocketServer.Reply.Body
  private let connection: OpaquePointer
  private let idle: UInt32
  private var present: SharedSecret?
  private var position = 0
  private var isOver = false
  /// libmicrohttpd's memory in which the bytes were, and how much of it.
  private var scratch: UnsafeMutableRawPointer?
  private var scratchCount = 0

  /// - Parameters:
  ///   - connection: libmicrohttpd's, which outlives the answer.
  ///   - idle: Seconds after which it ends the connection when nothing moves.
  init(_ body: SocketServer.Reply.Body, _ connection: OpaquePointer, idle: UInt32) {
    self.body = body
    unsafe self.connection = connection
    self.idle = idle
    switch body {
    case .bytes(let bytes):
      count = Int64(bytes.count)
      present = bytes
    case .pieces: count = nil
    case .stream(let body): count = body.length
    }
  }

  /// Writes the next bytes; -1 (`MHD_CONTENT_READER_END_OF_STREAM`) behind the last, -2
  /// (`MHD_CONTENT_READER_END_WITH_ERROR`) where they broke off.
  func fill(_ target: UnsafeMutableRawBufferPointer) -> Int {
    while !isOver {
      if let present, position < present.count {
        let part = min(target.count, present.count - position)
        present.withBytes { bytes in
          // The target is libmicrohttpd's for the length of the call, and the part is inside both.
          unsafe bytes.extracting(position..<position + part).withUnsafeBytes { bytes in
            unsafe target.copyMemory(from: bytes)
          }
        }
        position += part
        // Of a body of known length that is the answer's own, and lives as long as it.
        if count != nil {
          unsafe scratch = target.baseAddress
          scratchCount = max(scratchCount, part)
        }
        return part
      }
      switch body {
      case .bytes: isOver = true
      case .pieces(let next):
        present = next()
        position = 0
        isOver = present == nil
        unsafe vault_connection_touch(connection, idle)
      case .stream(let body):
        let count = unsafe body.fill(target, vault_connection_socket(connection))
        unsafe vault_connection_touch(connection, idle)
        return count
      }
    }
    return -1
  }

  /// Wipes what libmicrohttpd, which is about to free it, holds of the bytes.
  func wipe() {
    if let scratch = unsafe scratch { unsafe explicit_bzero(scratch, scratchCount) }
    unsafe scratch = nil
  }
}
