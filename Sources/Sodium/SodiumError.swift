/// Why a cryptographic operation gave nothing. No case tells more than an attacker may know, and
/// none carries a byte of what was worked on.
package enum SodiumError: Error, Equatable, Sendable {
  /// The key, the associated data or the box is not the right one. Which of them cannot be told,
  /// and telling would help only someone who forges.
  case cannotOpen
  /// The parameters ask for more than is accepted without saying so. Nothing was allocated.
  case tooExpensive(memoryBytes: UInt64)
  /// The system did not give the memory that the parameters ask for.
  case outOfMemory(memoryBytes: UInt64)
  /// Parameters that no vault writes.
  case badParameters
  /// Padding or fields that are not in their one accepted form.
  case badEncoding
}
