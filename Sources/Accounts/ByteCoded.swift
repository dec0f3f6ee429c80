import Encoding

/// A value that is one byte in a record. Codes never change their meaning and are never reused.
protocol ByteCoded: CaseIterable, Equatable {
  var code: UInt8 { get }
}

extension Writer {
  mutating func coded(_ value: some ByteCoded) {
    u8(value.code)
  }

  /// Code 0 stands for nil.
  mutating func coded(_ value: (some ByteCoded)?) {
    u8(value?.code ?? 0)
  }
}

extension Reader {
  mutating func coded<Value: ByteCoded>(_: Value.Type) throws(EncodingError) -> Value {
    guard let value = try optionalCoded(Value.self) else { throw .notCanonical("code") }
    return value
  }

  mutating func optionalCoded<Value: ByteCoded>(
    _: Value.Type
  ) throws(EncodingError) -> Value? {
    let code = try u8()
    if code == 0 { return nil }
    for value in Value.allCases where value.code == code { return value }
    throw .notCanonical("code")
  }
}
