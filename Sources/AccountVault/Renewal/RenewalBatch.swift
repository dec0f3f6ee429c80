import Accounts
import Encoding
import Faults
import Synchronization

/// Credentials that are renewed together: which wait, which are under way, which have their answer.
///
/// Used by one task; only ``landing`` is shared with those that send.
final class RenewalBatch {
  /// Requests at a time to one host: more would be new connections, not more speed.
  static let hostLimit = 8
  /// Requests at a time in all.
  static let limit = 64

  /// Answers, until the session's task takes them.
  final class Landing: Sendable {
    private let answers = Mutex<[(RenewalFlight, RenewalAnswer)]>([])

    func land(_ flight: RenewalFlight, _ answer: RenewalAnswer) {
      answers.withLock { $0.append((flight, answer)) }
    }

    func take() -> [(RenewalFlight, RenewalAnswer)] {
      answers.withLock { answers in
        defer { answers = [] }
        return answers
      }
    }
  }

  /// A credential between its lock and its end.
  private struct Held {
    let lock: RenewalLock
    let host: String
    let client: ClientReference
  }

  let landing = Landing()
  /// Those that another process is renewing at the moment.
  private(set) var others: [DueCredential] = []
  /// The first error that is no provider's.
  private(set) var failure: VaultError?
  private var queue: [DueCredential]
  private var held: [Key16: Held] = [:]
  private var flying: Set<Key16> = []
  private var load: [String: Int] = [:]
  private var probed: Set<ClientReference> = []

  init(_ due: [DueCredential]) { queue = due.reversed() }

  var isFlying: Bool { !flying.isEmpty }
  var isDone: Bool { queue.isEmpty && flying.isEmpty }

  func isFlying(_ client: ClientReference) -> Bool {
    held.contains { flying.contains($0.key) && $0.value.client == client }
  }

  /// Takes the next that there is room for.
  ///
  /// - Parameter host: Where the requests of a type go.
  func next(_ host: (_ type: String) -> String) -> (credential: DueCredential, host: String)? {
    guard held.count < Self.limit else { return nil }
    for index in queue.indices.reversed() {
      let credential = queue[index]
      let host = host(credential.type)
      if load[host, default: 0] >= Self.hostLimit { continue }
      if probed.contains(credential.client), isFlying(credential.client) { continue }
      queue.remove(at: index)
      return (credential, host)
    }
    return nil
  }

  func hold(_ credential: DueCredential, _ lock: RenewalLock, host: String) {
    held[credential.key] = Held(lock: lock, host: host, client: credential.client)
    load[host, default: 0] += 1
  }

  /// Another process holds it.
  func leave(_ credential: DueCredential) { others.append(credential) }

  func begin(_ flights: [RenewalFlight]) {
    for flight in flights { flying.insert(flight.key) }
  }

  /// Ends one, and gives its lock and its place free.
  func release(_ key: Key16) {
    flying.remove(key)
    guard let held = held.removeValue(forKey: key) else { return }
    held.lock.hold()
    load[held.host, default: 1] -= 1
  }

  /// Not now: its client is being probed by another.
  func putBack(_ credential: DueCredential) {
    release(credential.key)
    probed.insert(credential.client)
    queue.insert(credential, at: 0)
  }

  func note(_ error: VaultError) { failure = failure ?? error }

  /// Begins nothing more.
  func stop(_ error: VaultError) {
    note(error)
    stop()
  }

  /// Begins nothing more; what is under way comes to its end.
  func stop() {
    queue = []
    others = []
  }
}
