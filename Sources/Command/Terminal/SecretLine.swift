package import Sodium

/// Data with secrets in it, built in memory that is wiped.
package struct SecretLine: ~Copyable {
  private var bytes = SecretBytes(count: 256)
  private var used = 0

  package init() {}

  package mutating func add(_ text: String) {
    for byte in text.utf8 { append(byte) }
  }

  /// The bytes as they are.
  package mutating func add(_ secret: borrowing SecretBytes) {
    secret.withBytes { add($0) }
  }

  mutating func add(_ span: RawSpan) {
    for index in span.byteOffsets { append(Self.byte(index, of: span)) }
  }

  mutating func add(_ byte: UInt8) { append(byte) }

  /// The bytes, which are UTF-8, as a JSON string.
  package mutating func add(quoted secret: borrowing SecretBytes) {
    append(UInt8(ascii: "\""))
    secret.withBytes { span in
      for index in span.byteOffsets {
        let byte = Self.byte(index, of: span)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
          append(UInt8(ascii: "\\"))
          append(byte)
        case 0..<0x20, 0x7f:
          add("\\u00")
          append(Self.digit(byte >> 4))
          append(Self.digit(byte & 15))
        default: append(byte)
        }
      }
    }
    append(UInt8(ascii: "\""))
  }

  /// What was added.
  package consuming func finish() -> SecretBytes {
    bytes.truncate(to: used)
    return bytes
  }

  private mutating func append(_ byte: UInt8) {
    if used == bytes.count {
      var larger = SecretBytes(count: bytes.count * 2)
      bytes.withBytes { old in
        larger.withMutableBytes { new in
          for index in old.byteOffsets {
            new.storeBytes(of: Self.byte(index, of: old), toByteOffset: index, as: UInt8.self)
          }
        }
      }
      bytes = larger
    }
    let place = used
    bytes.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: place, as: UInt8.self) }
    used += 1
  }

  private static func byte(_ index: Int, of span: RawSpan) -> UInt8 {
    // A byte has no form that it could lack, and the span checks its bounds.
    unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
