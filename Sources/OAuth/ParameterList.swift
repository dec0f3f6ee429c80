internal import Encoding
package import Sodium

/// The parameters of an OAuth 1.0a request, in the order they come in: a list of pairs and never a
/// map, since names may repeat and values may be empty (RFC 5849 section 3.4.1.3.1).
///
/// Names and values are encoded as they come in, so that what is sorted is what the section wants to
/// be sorted. They may be secrets (xAuth's password is), so their memory is wiped.
package struct ParameterList: ~Copyable {
  /// Every name and its value, encoded, one after the other.
  private var bytes = WipedBytes(capacity: 1024)
  private var pairs: [Pair] = []
  /// How many `%` the bytes hold, from which the length of the base string is known.
  private var escapes = 0

  private struct Pair {
    var start: Int32
    var nameCount: Int32
    var valueCount: Int32

    var name: Range<Int> { Int(start)..<Int(start + nameCount) }
    var value: Range<Int> { Int(start + nameCount)..<Int(start + nameCount + valueCount) }
  }

  package init() {
    pairs.reserveCapacity(16)
  }

  package var count: Int { pairs.count }

  // MARK: Collecting

  /// Appends a pair that is not encoded.
  package mutating func append(_ name: String, _ value: String) {
    var value = value
    value.makeContiguousUTF8()
    // The text outlives the call.
    unsafe append(name, value.utf8Span.span.bytes)
  }

  /// Appends a pair that is not encoded.
  package mutating func append(_ name: String, _ value: RawSpan) {
    var name = name
    name.makeContiguousUTF8()
    // The text outlives the call.
    let nameBytes = unsafe name.utf8Span.span.bytes
    let start = bytes.count
    var middle = 0
    var escapes = 0
    bytes.fill(3 * (nameBytes.byteCount + value.byteCount)) { target, end in
      escapes = WipedBytes.write(nameBytes, .strict, to: &target, at: &end)
      middle = end
      escapes += WipedBytes.write(value, .strict, to: &target, at: &end)
    }
    self.escapes += escapes
    note(start, middle)
  }

  /// Appends a pair that is not encoded.
  package mutating func append(_ name: String, _ value: borrowing SecretBytes) {
    value.withBytes { append(name, $0) }
  }

  /// Appends what a query or a form body holds, as it is sent: `+` and `%20` are spaces, a name
  /// without `=` has an empty value, duplicates stay.
  ///
  /// - Throws: ``OAuthError/badEscape``.
  package mutating func append(form: RawSpan) throws(OAuthError) {
    var start = 0
    while start < form.byteCount {
      var middle: Int?
      var end = start
      while end < form.byteCount, form.byte(end) != UInt8(ascii: "&") {
        if middle == nil, form.byte(end) == UInt8(ascii: "=") { middle = end }
        end += 1
      }
      // Nothing between two ampersands is no pair.
      if end > start {
        try append(form, name: start..<(middle ?? end), value: (middle.map { $0 + 1 } ?? end)..<end)
      }
      start = end + 1
    }
  }

  /// Appends what a query holds, as it is sent.
  ///
  /// - Throws: ``OAuthError/badEscape``.
  package mutating func append(query: String) throws(OAuthError) {
    var query = query
    query.makeContiguousUTF8()
    try unsafe append(form: query.utf8Span.span.bytes)
  }

  /// Appends what an `Authorization` header of the scheme `OAuth` holds, but for `realm` and
  /// `oauth_signature`, which are not signed.
  ///
  /// - Throws: ``OAuthError/badAnswer(_:)`` for another scheme or a list that is not well formed,
  ///   ``OAuthError/badEscape``.
  package mutating func append(authorization: String) throws(OAuthError) {
    for (name, value) in try AuthorizationHeader.parse(authorization)
    where name.lowercased() != "realm" && name != "oauth_signature" {
      // In a header `+` is a plus; written as its escape it stays one.
      var pair = name.replacingPlus + value.replacingPlus
      pair.makeContiguousUTF8()
      let middle = name.replacingPlus.utf8.count
      // The text outlives the call.
      try unsafe append(
        pair.utf8Span.span.bytes, name: 0..<middle, value: middle..<pair.utf8.count)
    }
  }

  /// Appends a pair of form-encoded bytes.
  private mutating func append(
    _ form: RawSpan, name: Range<Int>, value: Range<Int>
  ) throws(OAuthError) {
    let start = bytes.count
    var middle = 0
    var escapes = 0
    try bytes.fill(3 * (name.count + value.count)) { target, end throws(OAuthError) in
      escapes = try WipedBytes.write(recoding: form, name, to: &target, at: &end)
      middle = end
      escapes += try WipedBytes.write(recoding: form, value, to: &target, at: &end)
    }
    self.escapes += escapes
    note(start, middle)
  }

  private mutating func note(_ start: Int, _ middle: Int) {
    pairs.append(
      Pair(
        start: Int32(start), nameCount: Int32(middle - start),
        valueCount: Int32(bytes.count - middle)))
  }

  // MARK: Using

  /// The name of the first pair from `index` on that begins with `prefix`; nil without one.
  func firstName(from index: Int, withPrefix prefix: String) -> String? {
    var prefix = prefix
    prefix.makeContiguousUTF8()
    // The text outlives the call.
    let wanted = unsafe prefix.utf8Span.span.bytes
    let pairs = pairs
    return bytes.withBytes { bytes -> String? in
      for index in index..<pairs.count where pairs[index].nameCount >= wanted.byteCount {
        let name = bytes.extracting(pairs[index].name)
        var offset = 0
        while offset < wanted.byteCount, name.byte(offset) == wanted.byte(offset) { offset += 1 }
        if offset == wanted.byteCount { return name.text }
      }
      return nil
    }
  }

  /// The bytes of ``normalized()``, and those of it encoded once more.
  private var normalizedCount: Int { bytes.count + max(0, pairs.count * 2 - 1) }
  var encodedCount: Int { bytes.count + 2 * escapes + max(0, pairs.count * 6 - 3) }

  /// The parameters as RFC 5849 section 3.4.1.3.2 orders and joins them: by the bytes of the encoded
  /// name, then of the encoded value.
  package func normalized() -> SecretBytes {
    var text = WipedBytes(capacity: normalizedCount)
    let order = order()
    bytes.withBytes { bytes in
      for (index, pair) in order.enumerated() {
        if index > 0 { text.append(UInt8(ascii: "&")) }
        text.append(bytes.extracting(pair.name))
        text.append(UInt8(ascii: "="))
        text.append(bytes.extracting(pair.value))
      }
    }
    return text.finish()
  }

  /// ``normalized()``, encoded once more, as the base string holds it.
  func writeNormalized(to text: inout WipedBytes) {
    let order = order()
    let count = encodedCount
    bytes.withBytes { bytes in
      text.fill(count) { target, end in
        var isFirst = true
        for pair in order {
          if !isFirst { Self.write(0x25, 0x32, 0x36, to: &target, at: &end) }
          isFirst = false
          _ = WipedBytes.write(bytes.extracting(pair.name), .strict, to: &target, at: &end)
          Self.write(0x25, 0x33, 0x44, to: &target, at: &end)
          _ = WipedBytes.write(bytes.extracting(pair.value), .strict, to: &target, at: &end)
        }
      }
    }
  }

  @inline(__always)
  private static func write(
    _ first: UInt8, _ second: UInt8, _ third: UInt8, to target: inout MutableRawSpan,
    at end: inout Int
  ) {
    WipedBytes.write(first, to: &target, at: &end)
    WipedBytes.write(second, to: &target, at: &end)
    WipedBytes.write(third, to: &target, at: &end)
  }

  /// The first `count` pairs as a header holds them (section 3.5.1).
  func writeHeader(_ count: Int, to text: inout WipedBytes) {
    let pairs = pairs
    bytes.withBytes { bytes in
      // Each pair with its `="`, `"` and `, `.
      text.fill(bytes.byteCount + 5 * count) { target, end in
        for index in 0..<count {
          if index > 0 {
            WipedBytes.write(UInt8(ascii: ","), to: &target, at: &end)
            WipedBytes.write(0x20, to: &target, at: &end)
          }
          WipedBytes.write(bytes.extracting(pairs[index].name), to: &target, at: &end)
          WipedBytes.write(UInt8(ascii: "="), to: &target, at: &end)
          WipedBytes.write(UInt8(ascii: "\""), to: &target, at: &end)
          WipedBytes.write(bytes.extracting(pairs[index].value), to: &target, at: &end)
          WipedBytes.write(UInt8(ascii: "\""), to: &target, at: &end)
        }
      }
    }
  }

  private func order() -> [Pair] {
    var pairs = pairs
    bytes.withBytes { bytes in
      pairs.sort { left, right in
        let names = Self.compare(bytes, left.name, right.name)
        return (names == 0 ? Self.compare(bytes, left.value, right.value) : names) < 0
      }
    }
    return pairs
  }

  /// Negative where `left` comes first.
  @inline(__always)
  private static func compare(_ bytes: RawSpan, _ left: Range<Int>, _ right: Range<Int>) -> Int {
    for offset in 0..<min(left.count, right.count) {
      let first = bytes.byte(left.lowerBound + offset)
      let second = bytes.byte(right.lowerBound + offset)
      if first != second { return first < second ? -1 : 1 }
    }
    return left.count - right.count
  }
}

extension String {
  /// Every `+` as its escape.
  fileprivate var replacingPlus: String {
    String(decoding: utf8.flatMap { $0 == 0x2B ? Array("%2B".utf8) : [$0] }, as: UTF8.self)
  }
}

extension RawSpan {
  /// The bytes as text; nil where they are not UTF-8.
  var text: String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    for offset in 0..<byteCount { bytes.append(byte(offset)) }
    return String(validating: bytes, as: UTF8.self)
  }
}
