/// Refuses a command line that carries a secret.
///
/// Every process of the machine can read the arguments of every other, and shells keep them in a
/// file. The secret is already out; refusing teaches the right way before it becomes a habit. What
/// stood there is never repeated.
enum SecretArguments {
  private enum Kind {
    case token
    case clientSecret
    case passphrase
    case key

    var noun: String {
      switch self {
      case .token: "a token"
      case .clientSecret: "a client secret"
      case .passphrase: "a passphrase"
      case .key: "a key"
      }
    }
  }

  /// - Throws: `usage`, before anything was done.
  static func refuse(in arguments: [String]) throws(CommandFailure) {
    let command = arguments.first { CommandTable.command(named: $0) != nil }
    for argument in arguments {
      if argument == "--" { return }
      guard let kind = kind(of: argument) else { continue }
      throw CommandFailure(
        .usage, "an argument must not carry \(kind.noun): other programs can read it",
        hint: rightWay(for: kind, in: command))
    }
  }

  private static func kind(of argument: String) -> Kind? {
    if argument.hasPrefix("-") {
      let name = argument.drop { $0 == "-" }.prefix { $0 != "=" }
        .lowercased().map { $0 == "_" ? "-" : $0 }
      if let kind = options[String(name)] { return kind }
    }
    return kind(ofText: argument)
  }

  private static let options: [String: Kind] = [
    "token": .token, "access-token": .token, "refresh-token": .token, "id-token": .token,
    "bearer": .token, "bearer-token": .token, "oauth-token": .token, "user-token": .token,
    "oauth-token-secret": .token, "token-secret": .token, "oauth-verifier": .token,
    "client-secret": .clientSecret, "app-secret": .clientSecret, "secret": .clientSecret,
    "consumer-secret": .clientSecret, "api-secret": .clientSecret,
    "passphrase": .passphrase, "password": .passphrase, "passwd": .passphrase,
    "pass": .passphrase, "pw": .passphrase, "pwd": .passphrase, "new-passphrase": .passphrase,
    "new-password": .passphrase, "old-passphrase": .passphrase,
    "recovery-code": .passphrase, "recovery-key": .passphrase,
    "key": .key, "app-key": .key, "api-key": .key, "private-key": .key, "vault-key": .key,
  ]

  /// What a value gives away by its form: our own keys, and a token response that was pasted.
  private static func kind(ofText text: String) -> Kind? {
    let value = text.hasPrefix("--") ? text.drop { $0 != "=" }.dropFirst() : text[...]
    let isOurs = { (prefix: String) in
      value.hasPrefix(prefix) && value.utf8.count >= prefix.utf8.count + 20
    }
    if isOurs("vrec_") { return .passphrase }
    if isOurs("vapp_") { return .key }
    let names = ["access_token", "refresh_token", "oauth_token", "oauth_token_secret", "id_token"]
    let carries = { (name: String) in
      value.contains("\(name)=") || value.contains("\"\(name)\"")
    }
    if names.contains(where: carries) || isHeader(value) { return .token }
    return carries("client_secret") ? .clientSecret : nil
  }

  /// A header that says who the request is from, behind `-H` or alone.
  private static func isHeader(_ value: Substring) -> Bool {
    let header = (value.hasPrefix("-H") ? value.dropFirst(2) : value)
      .drop { $0 == " " || $0 == "\t" }.lowercased()
    return ["authorization:", "proxy-authorization:", "dpop:", "cookie:"]
      .contains { header.hasPrefix($0) }
  }

  private static func rightWay(for kind: Kind, in command: String?) -> String {
    switch kind {
    case .token where command == "request": "vault help request"
    case .token: "vault add-account --type T --username U --token-stdin <FILE"
    case .clientSecret: "vault add-client --type T --client-id C --client-secret-stdin <FILE"
    case .passphrase:
      command == "change-passphrase"
        ? "vault change-passphrase --new-passphrase-file FILE"
        : "vault \(command ?? "COMMAND") --passphrase-file FILE"
    case .key: "vault \(command ?? "COMMAND") --key-file FILE"
    }
  }
}
