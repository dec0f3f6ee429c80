import AccountVault
import Accounts
import Faults

/// One way of reading a vault; together they meet every row that an owner or an app can ask for.
public enum Probe: String, CaseIterable, Sendable {
  case accounts, credentials, clients, apps, appKeys, asks, access, providers, keys, history
  case lestat, armand, firstToken, secondToken

  /// Whether it writes the ledger.
  public var isWriting: Bool { self == .firstToken || self == .secondToken }

  /// What it reads, as text that changes with every value.
  public func read(_ session: borrowing Session) throws(VaultError) -> String {
    var lines: [String] = []
    switch self {
    case .accounts:
      try session.forEachAccount {
        lines.append("\($0)"); return true
      }
    case .credentials:
      for account in try accounts(session) { lines.append("\(try session.standing(of: account))") }
    case .clients: lines = try session.clients().map { "\($0)" }
    case .apps: lines = try session.apps().map { "\($0)" }
    case .appKeys:
      for id in ["123", "456"] {
        lines.append("\(try session.isKey(SampleVault.secret("vapp_none"), of: id))")
      }
    case .asks: lines = try session.asks().map { "\($0)" }
    case .access:
      for app in ["123", "456"] { lines += try session.access(app: app).map { "\($0)" } }
    case .providers:
      for id in ["mine", "yours"] { lines.append(try session.provider(id).name) }
      lines += try session.ownProviders().map { "\($0.id)" }
    case .keys: lines = try session.keys().map { "\($0)" }
    case .history:
      try session.history(HistoryQuery()) { (entry) throws(VaultError) in lines.append("\(entry)") }
    case .lestat:
      for name in ["lestat", "facebook:lestat"] { lines.append("\(try session.account(name))") }
    case .armand:
      for name in ["x:42", "armand", "x:armand"] { lines.append("\(try session.account(name))") }
    case .firstToken: lines = [try token(session, "123", "publish_actions")]
    case .secondToken: lines = [try token(session, "456", "tweet.read")]
    }
    return lines.joined(separator: "\n")
  }

  private func accounts(_ session: borrowing Session) throws(VaultError) -> [Account] {
    var accounts: [Account] = []
    try session.forEachAccount {
      accounts.append($0); return true
    }
    return accounts
  }

  private func token(_ session: borrowing Session, _ app: String, _ permission: String)
    throws(VaultError) -> String
  {
    let token = try session.token(app: app, permissions: [permission], strictly: true)
    return token.withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  /// What each probe says of a vault: its text, or its refusal.
  public static func readAll(_ session: borrowing Session, writing: Bool) -> [Probe: Answer] {
    var answers: [Probe: Answer] = [:]
    for probe in allCases where writing || !probe.isWriting {
      answers[probe] = probe.answer(session)
    }
    return answers
  }

  /// What it reads, or the refusal.
  public func answer(_ session: borrowing Session) -> Answer {
    do throws(VaultError) {
      return .text(try read(session))
    } catch {
      return .refusal(error)
    }
  }

  public enum Answer: Equatable, Sendable {
    case text(String)
    case refusal(VaultError)
  }
}
