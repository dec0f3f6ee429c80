import AccountVault
import AccountVaultNetwork
import Foundation
import HTTP
import HTTPTypes
import Listener
import Providers
import Sodium
import Synchronization
import TestSupport
import Testing
import Time

/// A vault in a place of its own, with a wall clock that stands still until it is set.
struct Place {
  let directory: TemporaryDirectory
  let wall = SetClock()

  init() throws { directory = try TemporaryDirectory() }

  private var unlocking: Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = directory("state")
    options.clock = wall.clock
    return options
  }

  func create() throws -> Session {
    var options = Vault.CreationOptions()
    options.session = unlocking
    options.makesRecoveryCode = false
    options.cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    return try Vault.create(
      at: directory("accounts.vault"), passphrase: nil,
      keyFile: .text(String(repeating: "k", count: 32)), options: options
    ).takeSession()
  }

  func open() throws -> Session {
    try Vault.open(at: directory("accounts.vault")).unlock(
      with: .keyFile(.text(String(repeating: "k", count: 32))), options: unlocking)
  }

  /// The bytes of the vault, its log included.
  func bytes() throws -> Data {
    var all = try Data(contentsOf: URL(filePath: directory("accounts.vault")))
    all.append((try? Data(contentsOf: URL(filePath: directory("accounts.vault-wal")))) ?? Data())
    return all
  }
}

final class SetClock: Sendable {
  private let seconds = Mutex<Int64>(1_800_000_000)
  /// What waits have moved on, where they do not take real time.
  private let jumped = Mutex<Int64>(0)

  var now: Timestamp { Timestamp(seconds: seconds.withLock { $0 }) }

  var waited: Int64 { (jumped.withLock { $0 } + 500_000_000) / 1_000_000_000 }

  func advance(_ by: Int64) { seconds.withLock { $0 += by } }

  func jump(to boot: Int64) {
    let real = Clock.system.sinceBoot()
    jumped.withLock { $0 = max($0, boot - real) }
  }

  /// The wall as it was set; since boot as the machine says, and what was jumped over.
  var clock: Clock {
    Clock(
      now: { self.now },
      sinceBoot: { Clock.system.sinceBoot() + self.jumped.withLock { $0 } })
  }
}

extension Network {
  /// Real requests and signatures. Waits take real time, or none where `jumps` is set.
  static func test(_ wall: SetClock, jumps: Bool = false) -> Network {
    Network(
      transport: HTTPClient(version: "test"), signatures: .libcrypto, clock: wall.clock,
      wait: { until in
        if jumps {
          wall.jump(to: until)
          return !Task.isCancelled
        }
        let left = until - wall.clock.sinceBoot()
        do { try await Task.sleep(nanoseconds: UInt64(max(0, left))) } catch { return false }
        return true
      },
      random: { Int64.random(in: $0) })
  }
}

extension Secret {
  static func text(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }
}

extension SharedSecret {
  static func text(_ text: String) -> SharedSecret {
    var bytes = Array(text.utf8)
    return SharedSecret(SecretBytes(wiping: &bytes))
  }

  /// Only a test may do this.
  var shown: String {
    withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }
}

/// A provider on this machine, by the definition of a built-in one: each of its addresses is here, and
/// answered by what the test says.
final class ScriptedProvider: Sendable {
  typealias Answer = @Sendable (HTTPServer.Request, Int) -> HTTPServer.Response

  let server: ScriptedServer
  let base: String
  private let box = AnswerBox()

  init(_ base: String) throws {
    self.base = base
    let box = box
    server = try ScriptedServer { request, _ in
      let name = String(request.path.dropFirst())
      let number = box.next(name)
      return box.answers.withLock { $0[name] }?(request, number)
        ?? .text("no such page", status: 404)
    }
  }

  private final class AnswerBox: Sendable {
    let answers = Mutex<[String: Answer]>([:])
    private let counts = Mutex<[String: Int]>([:])

    func next(_ name: String) -> Int {
      counts.withLock { counts in
        counts[name, default: 0] += 1
        return counts[name]! - 1
      }
    }
  }

  /// What an address answers; each gets the number of its request, from 0.
  func on(_ name: String, _ answer: @escaping Answer) {
    box.answers.withLock { $0[name] = answer }
  }

  func on(_ name: String, _ response: HTTPServer.Response) { on(name) { _, _ in response } }

  /// What was sent to an address, in order.
  func requests(_ name: String) -> [HTTPServer.Request] {
    server.requests.filter { $0.path == "/" + name }
  }

  /// The page on which the person says yes: it sends the browser back with what `fields` says.
  func consents(
    _ code: String = "code-1",
    _ more: @escaping @Sendable (HTTPServer.Request) -> String = { _ in "" }
  ) {
    on("authorize") { request, _ in
      let state = request.queryField("state") ?? ""
      return .redirect(
        (request.queryField("redirect_uri") ?? "") + "?code=\(code)&state=\(state)" + more(request))
    }
  }

  /// The definition, for `vault add-provider`.
  ///
  /// - Parameter more: Further members, each with a comma before it.
  func definition(without: [String] = [], _ more: String = "") throws -> String {
    let builtIn = try #require(Provider.builtIn(base))
    var names = Set(builtIn.endpoints.keys.map(\.rawValue))
    if base == "mastodon" { names = ["authorize", "token", "revoke", "userinfo", "register"] }
    let addresses = names.sorted().map { name in
      without.contains(name) ? "\"\(name)\":null" : "\"\(name)\":\"\(server.url)/\(name)\""
    }
    return """
      {"id":"\(id)","extends":"\(base)","endpoints":{\(addresses.joined(separator: ","))},\
      "api_hosts":["127.0.0.1"]\(more)}
      """
  }

  var id: String { base + "-test" }
}

extension HTTPServer.Response {
  static func redirect(_ location: String) -> HTTPServer.Response {
    HTTPServer.Response(302, headers: [("Location", location)])
  }
}

/// A person with a browser: opens what is shown and follows it to this machine.
final class Person: Sendable {
  private let seen = Mutex<[SignInPrompt]>([])
  private let replies = Mutex<[Int]>([])
  /// What the person does in place of following the address.
  let acts: @Sendable (_ person: Person, _ address: String) async -> Void

  init(
    _ acts: @escaping @Sendable (_ person: Person, _ address: String) async -> Void = {
      await $0.follow($1)
    }
  ) {
    self.acts = acts
  }

  var prompts: [SignInPrompt] { seen.withLock { $0 } }
  var statuses: [Int] { replies.withLock { $0 } }

  /// Follows redirects, as a browser does, and notes the status of each page.
  func follow(_ address: String) async {
    let client = HTTPClient(version: "browser")
    var next: String? = address
    while let url = next {
      next = nil
      guard let response = try? await client.send(HTTPRequest("GET", url)) else { return }
      replies.withLock { $0.append(response.status) }
      if (300...399).contains(response.status) { next = response.header("Location") }
    }
  }

  /// Where this person is met: a real listener, and a terminal where `pin` says what is typed.
  func place(pin: String? = nil, listens: Bool = true, registers: Bool? = nil) -> SignInPlace {
    let network = Network.test(SetClock())
    var place = SignInPlace(
      listen: { (registered) throws(VaultError) in
        try .loopback(registered: registered, over: network)
      },
      show: { prompt in self.seen.withLock { $0.append(prompt) } },
      open: { address in
        // As a browser does, which is not waited for.
        Task { await self.acts(self, address) }
      })
    if !listens { place.listen = nil }
    if let pin { place.askPIN = typed(in: pin) }
    if let registers { place.mayRegister = answers(with: registers) }
    return place
  }
}

private func typed(in pin: String) -> @Sendable (Int64) async -> SharedSecret? {
  { _ in .text(pin) }
}

private func answers(
  with yes: Bool
) -> @Sendable (String) throws(VaultError) -> Bool {
  { (_) throws(VaultError) in yes }
}

extension Session {
  /// Takes a scripted provider in, with a client.
  func add(
    _ provider: ScriptedProvider, without: [String] = [], _ more: String = "",
    client: String = "client-1", secret: String? = "client-secret"
  ) throws {
    try addProvider(try provider.definition(without: without, more))
    _ = try addClient(
      type: provider.id, clientID: client, secret: secret.map { Secret.text($0) })
  }

  func entries(_ event: Event? = nil) throws -> [Entry] {
    var query = HistoryQuery()
    query.event = event
    var found: [Entry] = []
    try history(query) { found.append($0) }
    return found
  }

  /// The token of an app that was granted something, only a test may see it.
  func tokenText(app: String = "123", account: Account) throws -> String {
    try token(app: app, account: account.id.text).secret.withBytes { span in
      span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  func credential(of account: Account) throws -> Credential? {
    try standing(of: account).credentials.first?.credential
  }
}

/// The error that a sign-in ends with; the test fails where it ends with none.
func refusal(
  _ location: SourceLocation = #_sourceLocation,
  _ body: () async throws(VaultError) -> SignInOutcome
) async -> VaultError {
  do throws(VaultError) {
    _ = try await body()
  } catch {
    return error
  }
  Issue.record("nothing was refused", sourceLocation: location)
  return VaultError(.failed, "nothing was refused")
}

/// Something that happened on another thread.
final class Flag: Sendable {
  private let isUp = Mutex(false)

  func set() { isUp.withLock { $0 = true } }

  /// Polls, for a minute at most.
  func wait() async {
    for _ in 0..<6000 {
      if isUp.withLock({ $0 }) { return }
      try? await Task.sleep(nanoseconds: 10_000_000)
    }
    Issue.record("it never happened")
  }
}
