import Accounts
import Encoding

/// Records that nearly every call needs, kept for as long as their table does not change.
///
/// They were read and held against the state tree at that revision of the table, so reading them again
/// could only give the same.
final class KnownRecords {
  private var apps: [String: App] = [:]
  private var appRevision: UInt64 = 0
  private var keyed: [Digest32: App] = [:]
  private var keyedRevision: UInt64 = 0
  private var defaults: [String: String?] = [:]
  private var clientRevision: UInt64 = 0

  private var intents: Set<Key16> = []
  private var intentRevision: UInt64 = 0

  /// The credentials of which a renewal was begun and not ended; nil: not known.
  func openIntents(revision: UInt64) -> Set<Key16>? {
    revision == intentRevision ? intents : nil
  }

  func note(openIntents: Set<Key16>, revision: UInt64) {
    intents = openIntents
    intentRevision = revision
  }

  /// App ids are ASCII: equal texts are equal bytes.
  func app(_ id: String, revision: UInt64) -> App? {
    revision == appRevision ? apps[id] : nil
  }

  func note(_ app: App, revision: UInt64) {
    if revision != appRevision || apps.count > 255 { apps = [:] }
    appRevision = revision
    apps[app.id] = app
  }

  /// The apps by the hashes of their keys; nil: not known.
  func appsByKey(revision: UInt64) -> [Digest32: App]? {
    revision == keyedRevision ? keyed : nil
  }

  func note(appsByKey apps: [Digest32: App], revision: UInt64) {
    keyed = apps
    keyedRevision = revision
  }

  /// The outer nil: not known.
  func defaultClient(of type: String, revision: UInt64) -> String?? {
    revision == clientRevision ? defaults[type] : nil
  }

  func note(defaultClient id: String?, of type: String, revision: UInt64) {
    if revision != clientRevision { defaults = [:] }
    clientRevision = revision
    defaults.updateValue(id, forKey: type)
  }
}
