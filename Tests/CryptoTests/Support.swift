import Encoding
import Sodium

@testable import Crypto

extension SecretBytes {
  /// A secret out of what a test writes down, and therefore none.
  init(_ text: String) {
    self = Array(text.utf8).withBytes { SecretBytes(copying: $0) }
  }

  init(_ bytes: [UInt8]) {
    self = bytes.withBytes { SecretBytes(copying: $0) }
  }

  /// What a test compares.
  var array: [UInt8] {
    withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte($0) } }
  }
}

extension SHA1 {
  static func digest(_ data: [UInt8]) throws -> [UInt8] {
    try data.withBytes { data throws(CryptoError) in try digest(data) }
  }
}

extension HMACSHA1 {
  static func authenticate(_ message: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
    try message.withBytes { message throws(CryptoError) in
      try key.withBytes { key throws(CryptoError) in try authenticate(message, key: key) }
    }
  }
}

extension FastHMACSHA256 {
  static func authenticate(_ message: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
    try message.withBytes { message throws(CryptoError) in
      try key.withBytes { key throws(CryptoError) in try authenticate(message, key: key) }
    }
  }
}

extension RSA.SigningKey {
  func sign(_ message: String, _ hash: RSA.Hash) throws -> [UInt8] {
    try Array(message.utf8).withBytes { message throws(CryptoError) in try sign(message, hash) }
  }
}

extension RSA.VerifyingKey {
  func verify(_ signature: [UInt8], _ message: String, _ hash: RSA.Hash) -> Bool {
    Array(message.utf8).withBytes { verify(signature, $0, hash) }
  }
}

extension P256.SigningKey {
  func sign(_ message: [UInt8]) throws -> [UInt8] {
    try message.withBytes { message throws(CryptoError) in try sign(message) }
  }
}

extension P256.VerifyingKey {
  func verify(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
    message.withBytes { verify(signature, $0) }
  }
}
