import AccountVaultClient

/// An app that uses the accounts of somebody else's vault: `AppClient API_URL`.
///
/// Which agent, and which app it is, say `$VAULT_APPS_SOCKET` and `$VAULT_APP_KEY_FILE`.
@main struct App {
  static func main() async throws {
    let api = CommandLine.arguments[1]
    let vault = try AgentClient.ofEnvironment()

    let app = try await vault.app()
    print("app", app.id)

    // Accounts on which the owner decided something for this app.
    let accounts = try await vault.accounts()
    for account in accounts { print("account", account.type, account.username) }
    guard let account = accounts.first else { return }

    for access in try await vault.access(account: account.id) {
      print("permission", access.permission, access.state)
    }

    // The agent asks nobody by itself: what is undecided waits for the owner.
    let answer = try await vault.requestAccess(
      type: account.type, permissions: ["post"], audience: .friends)
    print("ask", answer.decision)

    // The token is overwritten when the value goes. Most apps need none: see send below.
    let token = try await vault.token(account: account.id, permissions: ["profile"])
    print("token of", token.withBytes { $0.count }, "bytes")

    let signature = try await vault.sign(
      method: "GET", url: api + "/me", account: account.id, permissions: ["profile"])
    print("signature", signature.headers.map(\.name))

    // Signed and sent by the agent; the answer is the provider's.
    let response = try await vault.send(
      ProviderRequest("GET", api + "/me", account: account.id, permissions: ["profile"]))
    print(
      "answer", response.status, String(decoding: try await response.body.bytes(), as: UTF8.self))

    // From the first entry on. A program that keeps the last entry it saw goes on behind that.
    for try await event in vault.events(after: 0) {
      print("event", event.name, event.permissions.joined(separator: ","))
      if event.name == "granted", event.permissions.contains("post") { break }
    }

    // One provider's answer is another request's body: neither is ever whole in memory.
    let picture = try await vault.send(ProviderRequest("GET", api + "/picture"))
    let upload = try await vault.send(
      ProviderRequest(
        "POST", api + "/photos", headers: [Header("Content-Type", "image/png")],
        body: .stream(picture.body), permissions: ["post"]))
    print("upload", upload.status)

    // No such account, or none that this app was granted: the agent does not tell which.
    do {
      _ = try await vault.token(account: "somebody.else")
    } catch {
      print("error", error.code.rawValue)
    }
  }
}
