internal import CCurl
internal import HTTPTypes
internal import Sodium

/// Grows by pieces in memory that is wiped, its old places too.
struct SecretBuffer: ~Copyable {
  private var bytes: SecretBytes
  private(set) var count = 0

  init(capacity: Int) {
    bytes = SecretBytes(count: capacity)
  }

  mutating func append(_ piece: RawSpan) {
    let needed = count + piece.byteCount
    if needed > bytes.count {
      var larger = SecretBytes(count: max(needed, bytes.count * 2))
      bytes.withBytes { old in larger.write(old, at: 0) }
      bytes = larger
    }
    bytes.write(piece, at: count)
    count = needed
  }

  mutating func append(_ text: String) {
    // A string that is given here is no secret.
    unsafe Array(text.utf8).withUnsafeBytes { unsafe append($0.bytes) }
  }

  consuming func finish() -> SecretBytes {
    bytes.truncate(to: count)
    return bytes
  }
}

extension SecretBytes {
  /// The address of the first byte, which stays as long as this secret. Whoever keeps it keeps the
  /// secret beside it.
  var address: UnsafeMutableRawPointer {
    unsafe withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        // Even an empty secret has memory.
        guard let start = bytes.baseAddress else { fatalError("no memory for a secret") }
        return unsafe UnsafeMutableRawPointer(mutating: start)
      }
    }
  }
}

/// Header lines as libcurl wants them: linked texts that end in a zero byte. They lie in one secret,
/// which is wiped when the list goes.
@safe struct HeaderList: ~Copyable {
  private let text: SecretBytes
  /// Owned; each points into `text`.
  private let nodes: UnsafeMutablePointer<curl_slist>
  private let count: Int

  /// Nil when there is none.
  var first: UnsafeMutablePointer<curl_slist>? { unsafe count == 0 ? nil : nodes }

  init(_ lines: consuming SecretBuffer, starts: [Int]) {
    text = lines.finish()
    count = starts.count
    unsafe nodes = .allocate(capacity: max(count, 1))
    let base = unsafe text.address.assumingMemoryBound(to: CChar.self)
    for (index, start) in starts.enumerated() {
      let next = unsafe index + 1 < count ? nodes + index + 1 : nil
      unsafe (nodes + index).initialize(to: curl_slist(data: base + start, next: next))
    }
  }

  deinit {
    unsafe nodes.deinitialize(count: count)
    unsafe nodes.deallocate()
  }
}
