import JSON

extension Provider {
  /// The types that need no definition of the user's own.
  public static let builtInIdentifiers = ["facebook", "twitter", "x", "weibo"]

  /// The built-in of that id, or nil. Only the one asked for is read.
  public static func builtIn(_ id: String) -> Provider? {
    guard let text = builtInText(id) else { return nil }
    do {
      return try parse(text)
    } catch {
      preconditionFailure("the built-in definition \(id) is wrong: \(error)")
    }
  }

  static func builtInText(_ id: String) -> String? {
    switch id {
    case "facebook": String(decoding: PackageResources.facebook_json, as: UTF8.self)
    case "twitter": String(decoding: PackageResources.twitter_json, as: UTF8.self)
    case "x": String(decoding: PackageResources.x_json, as: UTF8.self)
    case "weibo": String(decoding: PackageResources.weibo_json, as: UTF8.self)
    default: nil
    }
  }
}
