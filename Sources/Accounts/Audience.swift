/// Who sees what is written with a permission.
public enum Audience: String, CaseIterable, Sendable {
  /// Anybody at all.
  case everyone
  /// Those whom the person calls friends.
  case friends
  /// The person alone.
  case onlyMe = "only_me"

  /// Reads what a person wrote; `public` is another word for `everyone`.
  public init?(_ text: String) {
    if text == "public" {
      self = .everyone
    } else {
      self.init(rawValue: text)
    }
  }
}

extension Audience: ByteCoded {
  var code: UInt8 {
    switch self {
    case .everyone: 1
    case .friends: 2
    case .onlyMe: 3
    }
  }
}
