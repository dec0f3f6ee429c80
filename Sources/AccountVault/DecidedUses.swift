import Accounts
import Encoding
import Store
import Time

/// The uses that this session allowed, with what allowed them: so that the same question at the same
/// state of the vault is answered by one look at the state.
///
/// An answer depends on the request, the rows and the time. It is kept for one revision of the rows
/// (``Store/revision``: every row that was read was held against the state tree, and the tree's roots
/// have not moved since), and from the moment of deciding until the first end of a grant or of the
/// token. The secret is kept as it lies in the file, sealed.
final class DecidedUses {
  /// As many as there are windows; more would only be asked about together with a new entry.
  static let limit = UseWindows.limit

  /// What was asked, byte for byte: Swift calls texts equal that are different names here.
  struct Request: Hashable {
    let app: String
    let account: String?
    let permissions: [String]
    let view: Session.View
    /// Whose key was looked at, where the app was told by it: another one decides anew.
    let key: Digest32?

    static func == (one: Request, other: Request) -> Bool {
      guard one.view == other.view, one.key == other.key,
        one.app.utf8.elementsEqual(other.app.utf8),
        one.permissions.count == other.permissions.count
      else { return false }
      switch (one.account, other.account) {
      case (nil, nil): break
      case (let mine?, let others?):
        guard mine.utf8.elementsEqual(others.utf8) else { return false }
      default: return false
      }
      for index in one.permissions.indices
      where !one.permissions[index].utf8.elementsEqual(other.permissions[index].utf8) {
        return false
      }
      return true
    }

    func hash(into hasher: inout Hasher) {
      // Fewer bytes than make the request: equal ones still have equal hashes.
      Self.combine(app, &hasher)
      if let account { Self.combine(account, &hasher) }
      hasher.combine(permissions.count)
    }

    private static func combine(_ text: String, _ hasher: inout Hasher) {
      var word: UInt64 = 0
      var count = 0
      for byte in text.utf8 {
        word = word << 8 | UInt64(byte)
        count += 1
        if count & 7 == 0 { hasher.combine(word) }
      }
      hasher.combine(word)
      hasher.combine(count)
    }
  }

  /// A token that may be handed out, sealed.
  struct SealedToken {
    let row: Row
    let tokenType: String
    let expiry: Expiry
    let account: AccountID
    let clientID: String

    init(_ row: Row, _ credential: Credential, of account: AccountID) {
      // The overview says no more than is kept here.
      var sealed = row
      sealed.overview = []
      self.row = sealed
      tokenType = credential.tokenType
      expiry = credential.expiry
      self.account = account
      clientID = credential.clientID
    }
  }

  struct Use {
    let token: SealedToken
    let window: UseWindows.Window
    /// When it was decided, and when the first thing that it relies on ends.
    let decided: Timestamp
    let end: Timestamp?

    func holds(at now: Timestamp) -> Bool {
      now >= decided && (end.map { now < $0 } ?? true)
    }
  }

  private var uses: [Request: Use] = [:]
  private var revision: UInt64 = 0

  /// The use of an equal request, if it was decided at this revision of the rows.
  func use(_ request: Request, revision: UInt64) -> Use? {
    revision == self.revision ? uses[request] : nil
  }

  func note(_ use: Use, for request: Request, revision: UInt64) {
    if revision != self.revision || uses.count >= Self.limit { forget() }
    self.revision = revision
    uses[request] = use
  }

  func forget() { uses.removeAll(keepingCapacity: true) }
}
