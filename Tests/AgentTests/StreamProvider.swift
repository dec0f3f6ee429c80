import Foundation
import Synchronization
import Testing

/// A provider's API on raw sockets, with a thread for each connection: it streams both ways and keeps
/// nothing.
final class StreamProvider: Sendable {
  /// One request, on its connection's thread.
  final class Call {
    let method: String
    let target: String
    /// Names in lower case.
    let headers: [String: String]
    let descriptor: Int32
    fileprivate var rest: ArraySlice<UInt8>

    fileprivate init(_ head: String, _ rest: ArraySlice<UInt8>, _ descriptor: Int32) {
      let lines = head.components(separatedBy: "\r\n")
      let words = lines[0].split(separator: " ")
      method = words.count > 1 ? String(words[0]) : ""
      target = words.count > 1 ? String(words[1]) : ""
      var headers: [String: String] = [:]
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":") else { continue }
        headers[line[..<colon].lowercased()] =
          line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      }
      self.headers = headers
      self.rest = rest
      self.descriptor = descriptor
    }

    /// More bytes; none where the other side has closed.
    func more() -> ArraySlice<UInt8> {
      if !rest.isEmpty {
        defer { rest = [] }
        return rest
      }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      return count > 0 ? buffer[..<count] : []
    }

    /// Hands the body to `take`, piece by piece. False where it broke off.
    func body(_ take: (ArraySlice<UInt8>) -> Void) -> Bool {
      guard headers["transfer-encoding"] != "chunked" else { return chunks(take) }
      var left = Int(headers["content-length"] ?? "0") ?? 0
      while left > 0 {
        let piece = more()
        if piece.isEmpty { return false }
        let part = piece.prefix(left)
        take(part)
        left -= part.count
        rest = piece.dropFirst(part.count)
      }
      return true
    }

    private func line() -> String? {
      var line: [UInt8] = []
      while true {
        if rest.isEmpty { rest = more() }
        guard let byte = rest.popFirst() else { return nil }
        if byte == 0x0A { return String(decoding: line.dropLast(), as: UTF8.self) }
        line.append(byte)
      }
    }

    private func chunks(_ take: (ArraySlice<UInt8>) -> Void) -> Bool {
      while true {
        guard let size = line(), var left = Int(size, radix: 16) else { return false }
        let isLast = left == 0
        while left > 0 {
          let piece = more()
          if piece.isEmpty { return false }
          let part = piece.prefix(left)
          take(part)
          left -= part.count
          rest = piece.dropFirst(part.count)
        }
        guard line() != nil else { return false }
        if isLast { return true }
      }
    }

    /// Whether all of it was taken.
    @discardableResult func write(_ bytes: ArraySlice<UInt8>) -> Bool {
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return false }
        sent += count
      }
      return true
    }

    @discardableResult func write(_ text: String) -> Bool { write(Array(text.utf8)[...]) }

    /// Waits until the other side has closed; false after so many seconds.
    func waitForEnd(seconds: Int) -> Bool {
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, Int32(seconds * 1000)) > 0 else { return false }
      var byte: UInt8 = 0
      return recv(descriptor, &byte, 1, 0) <= 0
    }
  }

  let port: UInt16
  private let listening: Int32
  private let seen = Seen()

  private final class Seen: Sendable {
    let count = Atomic<Int>(0)
  }

  /// How many requests came.
  var count: Int { seen.count.load(ordering: .relaxed) }

  var url: String { "http://127.0.0.1:\(port)" }

  /// - Parameter answer: On a thread of the connection's own. False to close it.
  init(_ answer: @escaping @Sendable (Call) -> Bool) throws {
    listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = listening
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listening, address, size) == 0 && listen(listening, 256) == 0
          && getsockname(listening, address, &size) == 0
      }
    }
    try #require(isBound)
    port = UInt16(bigEndian: address.sin_port)
    let seen = seen
    Thread.detachNewThread {
      while true {
        let connection = accept(listening, nil, nil)
        if connection < 0 { return }
        Thread.detachNewThread {
          Self.serve(connection) {
            seen.count.add(1, ordering: .relaxed)
            return answer($0)
          }
        }
      }
    }
  }

  deinit {
    shutdown(listening, Int32(SHUT_RDWR))
    close(listening)
  }

  private static func serve(_ connection: Int32, _ answer: (Call) -> Bool) {
    defer { close(connection) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      while let end = headEnd(bytes) {
        let call = Call(
          String(decoding: bytes[..<end], as: UTF8.self), bytes[(end + 4)...], connection)
        guard answer(call) else { return }
        bytes = Array(call.rest)
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return }
      bytes += buffer[..<count]
    }
  }

  private static func headEnd(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    for place in 0...bytes.count - 4
    where bytes[place] == 13 && bytes[place + 1] == 10 && bytes[place + 2] == 13
      && bytes[place + 3] == 10
    {
      return place
    }
    return nil
  }
}

/// Bytes by their place, to be made and compared quickly.
enum Pattern {
  private static let period = 65_521
  private static let bytes: [UInt8] = (0..<period * 3).map {
    UInt8(truncatingIfNeeded: ($0 % period) &* 31 &+ ($0 % period) / 253)
  }

  /// At most 64 KiB from a place on.
  static func piece(_ place: Int, _ count: Int) -> ArraySlice<UInt8> {
    bytes[place % period..<place % period + min(count, 1 << 16)]
  }

  static func isRight(_ piece: ArraySlice<UInt8>, at place: Int) -> Bool {
    piece.count <= 1 << 17
      && piece.withUnsafeBytes { piece in
        bytes.withUnsafeBytes {
          memcmp(piece.baseAddress!, $0.baseAddress! + place % period, piece.count) == 0
        }
      }
  }
}
