import Accounts
import Encoding
package import Faults
import Store

extension Session {
  /// Who asks about an account, and so what of the vault may be told.
  public enum View: Sendable {
    /// The owner: every account can be named, and is named in refusals.
    case owner
    /// An app: it sees the accounts on which something was decided for it. Another one, whether it is
    /// there or not, gets the same refusal at the same cost, so that an app cannot find out by asking
    /// whose accounts are kept here.
    case app
  }

  /// The account that an app means: among those on which something was decided for it, and of several
  /// the one on which it holds something.
  ///
  /// The grants are looked for before any account is read, and one look is made where nothing bears the
  /// name, so that the time does not tell the two apart.
  ///
  /// - Throws: ``VaultError``: `neverAsked`; `ambiguous`, with those on which it holds something.
  func find(_ text: String, seenBy app: String) throws(VaultError) -> Account {
    let records = Records(store)
    var seen: [(account: Account, holds: Bool)] = []
    let ids = try ids(of: text)
    for id in ids.isEmpty ? [AccountID(.zero)] : ids {
      guard let set = try records.grants(app: app, account: id), !set.standings.isEmpty,
        let account = try records.account(id)
      else { continue }
      seen.append((account, !set.granted(now: now).isEmpty))
    }
    let holding = seen.filter(\.holds).map(\.account)
    if holding.count > 1 {
      throw .ambiguousAccount(holding, "\(Session.shown(text)) fits \(holding.count) accounts")
    }
    if let account = holding.first ?? seen.first?.account { return account }
    throw .neverGranted(app: app, permissions: [])
  }

  /// The ids that a name may mean; of an id itself no account needs to be there.
  func ids(of text: String) throws(VaultError) -> [AccountID] {
    let records = Records(store)
    var ids: [AccountID] = []
    for candidate in AccountReference.candidates(text) {
      switch candidate {
      case .id(let id): return [id]
      case .idPrefix(let prefix): ids += try accounts(beginning: prefix).map(\.id)
      case .typed(let type, let name):
        ids += try accounts(ofType: type, bearing: name)
      case .bare(let name): ids += try records.accounts(bearing: .name(name))
      }
    }
    var once: [AccountID] = []
    for id in ids where !once.contains(id) { once.append(id) }
    return once
  }
}

extension VaultError {
  /// The error as it is told: an app that holds nothing gets one text, whatever there is.
  package func told(to view: Session.View, app: String, _ permissions: [String]) -> VaultError {
    guard view == .app, code == .neverAsked else { return self }
    return .neverGranted(app: app, permissions: permissions)
  }
}
