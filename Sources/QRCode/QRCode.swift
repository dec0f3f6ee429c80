internal import CQREncode

/// A QR code (ISO/IEC 18004): a square of dark and light modules.
package struct QRCode: Sendable, Equatable {
  /// Modules on each side, without the margin.
  package let side: Int
  /// Row by row.
  private let dark: [Bool]

  /// The light modules that a reader needs on each side.
  package static let margin = 4

  /// The smallest code that holds `text`, of which a reader may miss 15 in 100 modules.
  ///
  /// Nil where it holds nothing or more than a code can, about 2300 bytes.
  package init?(_ text: String) {
    var bytes = Array(text.utf8)
    if bytes.isEmpty { return nil }
    // The library copies the bytes; the code is ours to free.
    let code = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      unsafe QRcode_encodeData(
        Int32(clamping: bytes.count), UnsafePointer(bytes.baseAddress), 0, QR_ECLEVEL_M)
    }
    guard let code = unsafe code else { return nil }
    defer { unsafe QRcode_free(code) }
    side = unsafe Int(code.pointee.width)
    // One byte a module, whose lowest bit says whether it is dark.
    dark = unsafe UnsafeBufferPointer(start: code.pointee.data, count: side * side)
      .map { $0 & 1 == 1 }
  }

  /// Whether a module is dark. Those outside the square are not.
  package func isDark(row: Int, column: Int) -> Bool {
    let inside = 0..<side
    return inside.contains(row) && inside.contains(column) && dark[row * side + column]
  }
}
