internal import CSodium

/// Sealed boxes: XChaCha20-Poly1305-IETF with a random nonce of 24 bytes in front.
///
/// The nonce is long enough to be drawn at random for every box; nobody passes one in, so none can
/// be used twice, which would give away both texts and the key of the tag. The cipher does not
/// commit to its key: a box that opens under two keys can be made. What a key is for must be
/// checked elsewhere before its boxes decide anything.
package enum AEAD {
  /// By how many bytes a box is longer than what is in it: nonce and tag.
  package static let overhead = nonceCount + tagCount
  static let nonceCount = 24
  static let tagCount = 16
  static let keyCount = 32

  /// Nonce, ciphertext and tag of `plaintext`.
  ///
  /// - Parameter associated: What the box belongs to. It is not in the box, and the box opens only
  ///   together with it: so no box can be moved to another row, column, table or vault.
  /// - Precondition: `key` has 32 bytes.
  package static func seal(
    _ plaintext: RawSpan, associated: RawSpan, key: borrowing SecretBytes
  ) -> [UInt8] {
    unsafe seal(plaintext, associated: associated, key: key) {
      unsafe randombytes_buf($0, nonceCount)
    }
  }

  package static func seal(
    _ plaintext: [UInt8], associated: [UInt8], key: borrowing SecretBytes
  ) -> [UInt8] {
    unsafe seal(plaintext.span.bytes, associated: associated.span.bytes, key: key)
  }

  package static func seal(
    _ plaintext: borrowing SecretBytes, associated: [UInt8], key: borrowing SecretBytes
  ) -> [UInt8] {
    plaintext.withBytes { unsafe seal($0, associated: associated.span.bytes, key: key) }
  }

  /// Seals with a nonce that `fill` writes: for known answers in tests, and for nothing else.
  static func seal(
    _ plaintext: RawSpan, associated: RawSpan, key: borrowing SecretBytes,
    nonce fill: (UnsafeMutablePointer<UInt8>) -> Void
  ) -> [UInt8] {
    precondition(key.count == keyCount, "a key has 32 bytes")
    let count = plaintext.byteCount + overhead
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { box, filled in
      let nonce = box.baseAddress!
      unsafe fill(nonce)
      let status = unsafe plaintext.lend { text, textCount in
        unsafe associated.lend { data, dataCount in
          unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
            nonce + nonceCount, nil, text, UInt64(textCount), data, UInt64(dataCount), nil, nonce,
            key.start.assumingMemoryBound(to: UInt8.self))
        }
      }
      precondition(status == 0, "encryption cannot fail")
      filled = count
    }
  }

  /// What is in `box`.
  ///
  /// - Precondition: `key` has 32 bytes.
  /// - Throws: ``SodiumError/cannotOpen`` for another key, other associated data, a changed or a
  ///   cut box. Nothing of it has then been decrypted.
  package static func open(
    _ box: RawSpan, associated: RawSpan, key: borrowing SecretBytes
  ) throws(SodiumError) -> SecretBytes {
    let count = try plaintextCount(box)
    let secret = SecretBytes(count: count)
    guard
      unsafe open(
        box, associated, key, to: secret.start.assumingMemoryBound(to: UInt8.self))
    else { throw .cannotOpen }
    return secret
  }

  package static func open(
    _ box: [UInt8], associated: [UInt8], key: borrowing SecretBytes
  ) throws(SodiumError) -> SecretBytes {
    try unsafe open(box.span.bytes, associated: associated.span.bytes, key: key)
  }

  /// Writes what is in `box` to the start of `buffer`, for what is private but no secret (an
  /// overview in a list): one buffer serves many rows.
  ///
  /// The buffer grows where it must and never shrinks; what lies beyond the count returned is left
  /// from before. On an error its start is zeroed.
  ///
  /// - Precondition: `key` has 32 bytes.
  /// - Returns: The number of bytes written.
  package static func open(
    _ box: RawSpan, associated: RawSpan, key: borrowing SecretBytes, into buffer: inout [UInt8]
  ) throws(SodiumError) -> Int {
    let count = try plaintextCount(box)
    // One byte at least, so that there is an address.
    let missing = max(count, 1) - buffer.count
    if missing > 0 { buffer.append(contentsOf: repeatElement(0, count: missing)) }
    let opened = unsafe buffer.withUnsafeMutableBufferPointer {
      unsafe open(box, associated, key, to: $0.baseAddress!)
    }
    guard opened else { throw .cannotOpen }
    return count
  }

  package static func open(
    _ box: [UInt8], associated: [UInt8], key: borrowing SecretBytes, into buffer: inout [UInt8]
  ) throws(SodiumError) -> Int {
    try unsafe open(
      box.span.bytes, associated: associated.span.bytes, key: key, into: &buffer)
  }

  /// Held against the shortest box before anything is read: a cut box must not be read past its
  /// end.
  private static func plaintextCount(_ box: RawSpan) throws(SodiumError) -> Int {
    guard box.byteCount >= overhead else { throw .cannotOpen }
    return box.byteCount - overhead
  }

  /// - Parameter output: Room for the plaintext, which the caller owns. libsodium checks the tag
  ///   before it decrypts, and zeroes the room where the tag is wrong.
  private static func open(
    _ box: RawSpan, _ associated: RawSpan, _ key: borrowing SecretBytes,
    to output: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    precondition(key.count == keyCount, "a key has 32 bytes")
    return unsafe box.lend { nonce, boxCount in
      unsafe associated.lend { data, dataCount in
        unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
          output, nil, nil, nonce + nonceCount, UInt64(boxCount - nonceCount), data,
          UInt64(dataCount), nonce, key.start.assumingMemoryBound(to: UInt8.self))
      } == 0
    }
  }
}
