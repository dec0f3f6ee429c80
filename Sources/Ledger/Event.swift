/// What an entry of the ledger records.
///
/// The raw value is the name that `vault history` prints. A new event may be added; a name never
/// changes its meaning.
///
/// In an entry's body an event is one byte, its `code`. The registry of codes:
///
/// | code | event | code | event | code | event |
/// |---|---|---|---|---|---|
/// | 1 | `vault_created` | 11 | `access_requested` | 21 | `renewed` |
/// | 2 | `account_added` | 12 | `granted` | 22 | `rejected` |
/// | 3 | `account_renamed` | 13 | `denied` | 23 | `failed` |
/// | 4 | `account_removed` | 14 | `revoked` | 24 | `expired` |
/// | 5 | `signed_in` | 15 | `lapsed` | 25 | `keys_changed` |
/// | 6 | `client_added` | 16 | `narrowed` | 26 | `anchor_reset` |
/// | 7 | `client_removed` | 17 | `lost_on_site` | 27 | `restored` |
/// | 8 | `app_added` | 18 | `token_used` | 28 | `imported` |
/// | 9 | `app_removed` | 19 | `use_refused` | 29 | `verified` |
/// | 10 | `app_key_changed` | 20 | `renewal_started` | 30 | `ask_interrupted` |
/// | 31 | `provider_added` | 32 | `revocation_sent` | 33 | `widened` |
///
/// A code is never given to another event and never taken away. A body with a code that stands
/// nowhere in this table is refused, never skipped: an entry that a reader passes over in silence
/// is an entry that an attacker can hide.
public enum Event: String, CaseIterable, Sendable {
  /// The first entry of every ledger.
  case vaultCreated = "vault_created"
  /// An account came in, with or without a credential.
  case accountAdded = "account_added"
  /// The label changed; the details tell from what to what.
  case accountRenamed = "account_renamed"
  /// An account went, with its credentials and grants.
  case accountRemoved = "account_removed"
  /// A known account got a new credential from a person's sign-in.
  case signedIn = "signed_in"
  /// A registration at a provider came in.
  case clientAdded = "client_added"
  /// A registration at a provider went.
  case clientRemoved = "client_removed"
  /// An app was added, or recorded by a decision about it.
  case appAdded = "app_added"
  /// An app went, with its grants.
  case appRemoved = "app_removed"
  /// An app was given another key.
  case appKeyChanged = "app_key_changed"
  /// An app asked; also an ask that the provider's rules refused.
  case accessRequested = "access_requested"
  /// Somebody said yes.
  case granted
  /// Somebody said no.
  case denied
  /// Somebody took a yes back.
  case revoked
  /// A grant with an end had come to it.
  case lapsed
  /// The provider gave fewer scopes than before.
  case narrowed
  /// The person took the permission back at the provider.
  case lostOnSite = "lost_on_site"
  /// An app was handed a token, or had a request signed with it: then the reason says to which host.
  case tokenUsed = "token_used"
  /// An app asked for a token and was not handed one.
  case useRefused = "use_refused"
  /// A renewal was about to be sent.
  case renewalStarted = "renewal_started"
  /// The provider gave a new credential for an old one.
  case renewed
  /// The provider refused a renewal for good.
  case rejected
  /// A renewal did not come to an answer; a later one may.
  case failed
  /// A credential ended that nothing could renew.
  case expired
  /// A way of unlocking, or the vault's own key, changed.
  case keysChanged = "keys_changed"
  /// The head outside the file was taken anew.
  case anchorReset = "anchor_reset"
  /// The vault was made from a backup; a new branch begins.
  case restored
  /// Something came from another program's store.
  case imported
  /// The whole vault was checked.
  case verified
  /// An ask that ended without an answer: its process died, or its deadline came. Never a no.
  case askInterrupted = "ask_interrupted"
  /// A provider definition of the owner's own was taken in or replaced.
  case providerAdded = "provider_added"
  /// A provider was told that a token, or the app's whole authorization, is over.
  case revocationSent = "revocation_sent"
  /// A provider shows that a credential may do more than was known. No app was granted more by it.
  case widened

  /// The byte that stands for this event in an entry's body.
  package var code: UInt8 {
    switch self {
    case .vaultCreated: 1
    case .accountAdded: 2
    case .accountRenamed: 3
    case .accountRemoved: 4
    case .signedIn: 5
    case .clientAdded: 6
    case .clientRemoved: 7
    case .appAdded: 8
    case .appRemoved: 9
    case .appKeyChanged: 10
    case .accessRequested: 11
    case .granted: 12
    case .denied: 13
    case .revoked: 14
    case .lapsed: 15
    case .narrowed: 16
    case .lostOnSite: 17
    case .tokenUsed: 18
    case .useRefused: 19
    case .renewalStarted: 20
    case .renewed: 21
    case .rejected: 22
    case .failed: 23
    case .expired: 24
    case .keysChanged: 25
    case .anchorReset: 26
    case .restored: 27
    case .imported: 28
    case .verified: 29
    case .askInterrupted: 30
    case .providerAdded: 31
    case .revocationSent: 32
    case .widened: 33
    }
  }

  private static let byCode: [Event?] = {
    var events = [Event?](repeating: nil, count: 256)
    for event in allCases { events[Int(event.code)] = event }
    return events
  }()

  /// The event of a code, or nil where the registry has no such code.
  package init?(code: UInt8) {
    guard let event = Event.byCode[Int(code)] else { return nil }
    self = event
  }
}
