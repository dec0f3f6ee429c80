/// Why a signed note is not accepted.
public enum NoteError: Error, Equatable, Sendable {
  /// The text does not have the form of the specification; says which part and how.
  case malformed(String)
  /// The text is longer, or bears more signatures, than any note of this product.
  case tooLarge
  /// The key of this name has not signed it.
  case notSigned(name: String)
  /// It bears a signature by the key of this name that is wrong: it was altered or forged.
  case badSignature(name: String)
  /// It is the head of another log.
  case wrongOrigin(expected: String, found: String)
}

extension NoteError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let what): what
    case .tooLarge: "it is too large"
    case .notSigned(let name): "\(name) has not signed it"
    case .badSignature(let name): "the signature of \(name) is wrong"
    case .wrongOrigin(let expected, let found): "it is of \(found), not \(expected)"
    }
  }
}
