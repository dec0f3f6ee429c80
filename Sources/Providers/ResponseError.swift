/// Why a token response was not taken. It holds names of members, never a value.
package enum ResponseError: Error, Equatable, Sendable, CustomStringConvertible {
  case empty
  case tooLarge(limit: Int)
  /// Neither JSON nor form-encoded.
  case notUnderstood
  /// JSON that is broken, too deep or not text.
  case malformed(String)
  case duplicateMember(String)
  /// No token where the definition says it is.
  case noToken(expected: String, members: [String])
  case emptyToken(String)
  /// The member holds a control character, a space or something that is not ASCII.
  case unusableToken(String)
  case unsupportedTokenType(String)
  case wrongProtocol(expected: String, found: String)
  case badMember(String)
  /// A member that the provider's responses must hold is not there.
  case missingMember(String)
  /// The scopes that came lack one without which the provider's tokens are not what they seem.
  case missingScope(String)
  /// The response is a refusal, whatever its status was.
  case refused(Classification)

  package var description: String {
    switch self {
    case .empty: "the token response is empty"
    case .tooLarge(let limit): "the token response is longer than \(limit) bytes"
    case .notUnderstood: "the token response is neither JSON nor form-encoded"
    case .malformed(let problem): "the token response is not valid JSON (\(problem))"
    case .duplicateMember(let name): "the token response holds \(name) twice"
    case .noToken(let expected, let members):
      members.isEmpty
        ? "the token response holds no \(expected)"
        : "the token response holds no \(expected); its members are \(members.joined(separator: ", "))"
    case .emptyToken(let name): "\(name) in the token response is empty"
    case .unusableToken(let name):
      "\(name) in the token response holds a character that no token may hold"
    case .unsupportedTokenType(let type): "unsupported token type \"\(type)\""
    case .wrongProtocol(let expected, let found):
      "this is an \(found) token response, and the account's type speaks \(expected)"
    case .badMember(let name): "\(name) in the token response is of the wrong kind"
    case .missingMember(let name): "the token response holds no \(name)"
    case .missingScope(let name): "the token response is not for the scope \(name)"
    case .refused(let refusal):
      "the provider refused (\(refusal.errorClass.rawValue)"
        + (refusal.code.map { ", code \($0)" } ?? "") + ")"
    }
  }
}
