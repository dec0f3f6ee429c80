import AccountVault

/// A bot that keeps its account in the vault at the path given. The passphrase comes on standard input.
@main struct Bot {
  static func main() throws {
    let session = try unlock(CommandLine.arguments[1])

    // The provider's answer to a sign-in goes in as it came, and the owner decides what is allowed.
    let answer = #"{"access_token":"EAAB0example","token_type":"bearer","expires_in":5183944}"#
    let account = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat.ali", userID: "4"),
      credential: .response(secret(answer)))
    _ = try session.grant(Decision(app: "bot", permissions: ["publish_actions"]))

    // The use is in the ledger before the token is out of its seal; the bytes are lent, then wiped.
    let token = try session.token(app: "bot", permissions: ["publish_actions"])
    token.withBytes { print("a token of \($0.byteCount) bytes for \(account.label)") }

    do {
      _ = try session.token(app: "bot", permissions: ["email"])
    } catch {
      print("\(error.code): \(error.message)")
    }
    try session.history(HistoryQuery()) { print($0.number, $0.event.rawValue, $0.app ?? "-") }
    try session.flush()
  }

  static func unlock(_ path: String) throws(VaultError) -> Session {
    let passphrase = secret(readLine() ?? "")
    if Vault.exists(at: path) {
      return try Vault.open(at: path).unlock(with: .passphrase(passphrase))
    }
    return try Vault.create(at: path, passphrase: passphrase, keyFile: nil).takeSession()
  }

  static func secret(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }
}
