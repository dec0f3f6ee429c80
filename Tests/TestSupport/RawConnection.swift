import Foundation

/// A TCP connection of a test to a port of this machine, on which it writes whatever it likes.
public final class RawConnection: Sendable {
  private let descriptor: Int32

  /// - Parameter host: `127.0.0.1` or `::1`.
  public init(_ port: UInt16, host: String = "127.0.0.1") throws {
    let isIPv6 = host.contains(":")
    descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var status: Int32 = -1
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &address.sin6_addr)
      let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
      status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
      }
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      inet_pton(AF_INET, host, &address.sin_addr)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
      }
    }
    // The descriptor is closed by deinit, which runs after this as well.
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// Whether all of it was taken; not where the other side has closed.
  @discardableResult
  public func write(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
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

  /// No more will be written; reading goes on.
  public func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// All until the other side closes, or until `end` has come.
  public func read(until end: String? = nil) -> String {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { break }
      all += buffer[..<count]
      if let end, String(decoding: all, as: UTF8.self).contains(end) { break }
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// Whether the other side has closed: true once all was read, false while it is open and silent for
  /// so many milliseconds.
  public func isClosed(within milliseconds: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, milliseconds) > 0 else { return false }
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0
  }
}
