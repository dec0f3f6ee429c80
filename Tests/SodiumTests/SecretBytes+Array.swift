import Encoding

@testable import Sodium

extension SecretBytes {
  /// A secret out of what a test writes down, and therefore none.
  init(copying bytes: [UInt8]) {
    self = bytes.withBytes { SecretBytes(copying: $0) }
  }

  /// What a test compares.
  var array: [UInt8] {
    withBytes { $0.withUnsafeBytes { Array($0) } }
  }
}
