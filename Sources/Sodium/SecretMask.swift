internal import Glibc

/// Finds secrets in bytes that pass by, so that they can be covered before somebody sees them.
package struct SecretMask: Sendable {
  /// Bytes that a secret has at least: a shorter one stands anywhere by chance.
  package static let shortest = 16

  private let secrets: [SharedSecret]

  /// Those that are too short are left out.
  package init(_ secrets: [SharedSecret]) {
    self.secrets = secrets.filter { $0.count >= Self.shortest }
  }

  package var isEmpty: Bool { secrets.isEmpty }

  /// Whether one of them stands there.
  package func isIn(_ bytes: RawSpan) -> Bool {
    secrets.contains { Self.place(of: $0, in: bytes, from: 0) != nil }
  }

  private static func place(of secret: SharedSecret, in bytes: RawSpan, from start: Int) -> Int? {
    secret.withBytes { secret in
      unsafe bytes.withUnsafeBytes { bytes -> Int? in
        unsafe secret.withUnsafeBytes { secret -> Int? in
          guard let first = bytes.baseAddress, let what = secret.baseAddress else { return nil }
          let last = bytes.count - secret.count
          var place = start
          // Both are lent for the call, and as many bytes as are compared are in both.
          while place <= last,
            let found = unsafe memchr(first + place, Int32(secret[0]), last - place + 1)
          {
            place = unsafe UnsafeRawPointer(found) - first
            if unsafe memcmp(first + place, what, secret.count) == 0 { return place }
            place += 1
          }
          return nil
        }
      }
    }
  }

  /// How many of the last bytes may be the beginning of one, the rest of which is still to come.
  package func tail(of bytes: RawSpan) -> Int {
    var tail = 0
    for secret in secrets {
      let count = secret.withBytes { secret in
        unsafe bytes.withUnsafeBytes { bytes -> Int in
          unsafe secret.withUnsafeBytes { secret -> Int in
            guard let start = bytes.baseAddress, let what = secret.baseAddress else { return 0 }
            var count = min(secret.count - 1, bytes.count)
            // As many bytes as are compared are in both.
            while count > 0, unsafe memcmp(start + (bytes.count - count), what, count) != 0 {
              count -= 1
            }
            return count
          }
        }
      }
      tail = max(tail, count)
    }
    return tail
  }

  /// Writes `*` over each of them, also where two have bytes in common.
  package func cover(_ bytes: inout SecretBytes) {
    var places: [Range<Int>] = []
    for secret in secrets {
      var start = 0
      while let place = bytes.withBytes({ Self.place(of: secret, in: $0, from: start) }) {
        places.append(place..<place + secret.count)
        start = place + 1
      }
    }
    bytes.withMutableBytes { span in
      for place in places.joined() {
        span.storeBytes(of: UInt8(ascii: "*"), toByteOffset: place, as: UInt8.self)
      }
    }
  }

  /// The same for a text.
  package func covered(_ text: String) -> String {
    guard !isEmpty else { return text }
    var array = Array(text.utf8)
    var bytes = SecretBytes(wiping: &array)
    guard bytes.withBytes({ isIn($0) }) else { return text }
    cover(&bytes)
    return bytes.withBytes { span in
      unsafe span.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }
}
