import JSON

extension Provider {
  /// The types that need no definition of the user's own.
  public static let builtInIdentifiers = [
    "facebook", "twitter", "x", "weibo", "tencentweibo", "linkedin", "mastodon", "github",
    "github-app", "google", "microsoft", "slack", "reddit", "bluesky",
  ]

  /// The built-in of that id, or nil. Only the one asked for is read.
  public static func builtIn(_ id: String) -> Provider? {
    guard let text = builtInText(id) else { return nil }
    do {
      return try parse(text)
    } catch {
      preconditionFailure("the built-in definition \(id) is wrong: \(error)")
    }
  }

  private static func builtInText(_ id: String) -> String? {
    let bytes: [UInt8]? =
      switch id {
      case "facebook": PackageResources.facebook_json
      case "twitter": PackageResources.twitter_json
      case "x": PackageResources.x_json
      case "weibo": PackageResources.weibo_json
      case "tencentweibo": PackageResources.tencentweibo_json
      case "linkedin": PackageResources.linkedin_json
      case "mastodon": PackageResources.mastodon_json
      case "github": PackageResources.github_json
      case "github-app": PackageResources.github_app_json
      case "google": PackageResources.google_json
      case "microsoft": PackageResources.microsoft_json
      case "slack": PackageResources.slack_json
      case "reddit": PackageResources.reddit_json
      case "bluesky": PackageResources.bluesky_json
      default: nil
      }
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}
