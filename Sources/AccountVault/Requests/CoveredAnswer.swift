import HTTPTypes
import OAuth
import Providers
import Sodium
import Synchronization

/// Hands an answer on with the token covered, in headers and body.
///
/// Some providers say it again: in the addresses of further pages, in a redirect, or in what shows a
/// request back to who sent it. Whoever has a request sent must not get the token that way. Each byte of
/// it becomes `*`, so that lengths stay.
final class CoveredAnswer: Sendable {
  private let receiver: any ResponseReceiver
  private let mask: SecretMask
  /// What may be the beginning of a secret, and waits for the next piece.
  private let kept = Mutex<SharedSecret?>(nil)

  init(_ receiver: any ResponseReceiver, mask: SecretMask) {
    self.receiver = receiver
    self.mask = mask
  }

  func begin(status: Int, headers: [(name: String, value: String)]) {
    kept.withLock { $0 = nil }
    receiver.begin(
      status: status,
      headers: mask.isEmpty ? headers : headers.map { ($0.name, mask.covered($0.value)) })
  }

  func receive(_ piece: RawSpan) -> Bool {
    let before = kept.withLock { kept in
      defer { kept = nil }
      return kept
    }
    if before == nil, !mask.isIn(piece) { return pass(piece) }
    var joined = SecretBytes(count: (before?.count ?? 0) + piece.byteCount)
    before?.withBytes { joined.write($0, at: 0) }
    joined.write(piece, at: before?.count ?? 0)
    mask.cover(&joined)
    return joined.withBytes { pass($0) }
  }

  /// Hands on all but what may be the beginning of a secret.
  private func pass(_ bytes: RawSpan) -> Bool {
    let tail = mask.tail(of: bytes)
    let count = bytes.byteCount - tail
    if tail > 0 {
      let rest = SharedSecret(SecretBytes(copying: bytes.extracting(count..<bytes.byteCount)))
      kept.withLock { $0 = rest }
    }
    return count == 0 || receiver.receive(bytes.extracting(0..<count))
  }

  /// The answer is over: what waited is no secret.
  func finish() -> Bool {
    let rest = kept.withLock { kept in
      defer { kept = nil }
      return kept
    }
    return rest?.withBytes { receiver.receive($0) } ?? true
  }
}

extension Access {
  /// What of it goes to the provider with each request, in every form in which it may come back: as it
  /// is, encoded for an address, and with the `\/` of some writers of JSON.
  var mask: SecretMask {
    var forms = [accessToken]
    var encoded = FormBody(.strict)
    encoded.append("t", accessToken.bytes)
    let form = encoded.finish()
    forms.append(
      form.withBytes { SharedSecret(SecretBytes(copying: $0.extracting(2..<$0.byteCount))) })
    var escaped: [UInt8] = []
    // It does not move, and so leaves no copy.
    escaped.reserveCapacity(2 * accessToken.count)
    accessToken.withBytes { token in
      for offset in 0..<token.byteCount {
        // A byte has no invalid form, and the offset is inside.
        let byte = unsafe token.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        if byte == UInt8(ascii: "/") { escaped.append(UInt8(ascii: "\\")) }
        escaped.append(byte)
      }
    }
    let text = SharedSecret(SecretBytes(wiping: &escaped))
    if text.count > accessToken.count { forms.append(text) }
    return SecretMask(forms)
  }
}
