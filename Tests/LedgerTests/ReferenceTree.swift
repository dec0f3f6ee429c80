import Encoding
import Sodium

/// The definitions of RFC 6962, section 2.1, written down word for word: slow and plainly right.
enum ReferenceTree {
  static func leaf(_ number: Int) -> [UInt8] {
    Array("leaf \(number)".utf8)
  }

  static func leafHash(_ leaf: [UInt8]) -> Digest32 {
    SHA256.digest([0] + leaf)
  }

  static func root(_ leaves: ArraySlice<[UInt8]>) -> Digest32 {
    if leaves.isEmpty { return SHA256.digest([]) }
    if leaves.count == 1 { return leafHash(leaves.first!) }
    let k = split(leaves.count)
    return SHA256.digest([1] + root(leaves.prefix(k)).bytes + root(leaves.dropFirst(k)).bytes)
  }

  static func path(_ m: Int, _ leaves: ArraySlice<[UInt8]>) -> [Digest32] {
    if leaves.count == 1 { return [] }
    let k = split(leaves.count)
    let (left, right) = (leaves.prefix(k), leaves.dropFirst(k))
    return m < k ? path(m, left) + [root(right)] : path(m - k, right) + [root(left)]
  }

  static func subproof(_ m: Int, _ leaves: ArraySlice<[UInt8]>, _ whole: Bool) -> [Digest32] {
    if m == leaves.count { return whole ? [] : [root(leaves)] }
    let k = split(leaves.count)
    let (left, right) = (leaves.prefix(k), leaves.dropFirst(k))
    return m <= k
      ? subproof(m, left, whole) + [root(right)]
      : subproof(m - k, right, false) + [root(left)]
  }

  private static func split(_ count: Int) -> Int {
    var k = 1
    while 2 * k < count { k *= 2 }
    return k
  }
}
