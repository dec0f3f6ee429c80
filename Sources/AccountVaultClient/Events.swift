internal import FoundationEssentials
internal import Synchronization
internal import UnixSocket

/// What concerns the app, as the ledger records it: a grant, a revocation, a renewal, …
public struct AgentEvent: Sendable, Equatable {
  /// The ledger entry's number: what ``AgentClient/events(after:)`` goes on after.
  public let entry: Int64
  /// Such as `granted` or `lost_on_site`. Later versions may have more.
  public let name: String
  /// RFC 3339 in UTC with whole seconds.
  public let time: String
  /// The account's id.
  public let account: String?
  public let permissions: [String]
  public let reason: String?
  /// The whole entry as JSON, with the members that `vault history --json` prints.
  public let json: [UInt8]

  init?(_ message: EventStream.Message) {
    struct Entry: Decodable {
      var entry: Int64
      var time: String
      var account: String?
      var permissions: [String]?
      var reason: String?
    }
    guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(message.data)) else {
      return nil
    }
    self.entry = entry.entry
    name = message.name
    time = entry.time
    account = entry.account
    permissions = entry.permissions ?? []
    reason = entry.reason
    json = message.data
  }
}

/// The events that concern the app, for as long as somebody asks for the next.
///
/// Where the agent goes away, is locked, or closes the connection, the sequence waits and goes on after
/// the last event; it waits for an agent that is not there yet, too. It ends by what no waiting mends:
/// a key that is not good (`wrong_key`), a socket that this user may not use.
public struct AgentEvents: AsyncSequence, Sendable {
  public typealias Element = AgentEvent
  public typealias Failure = AgentError

  let pool: ConnectionPool
  let last: Int64?

  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: EventReader

    /// - Throws: ``AgentError``; (``AgentError/Cause/cancelled``) where the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AgentError) -> AgentEvent? {
      try await reader.next()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reader: EventReader(pool, after: last))
  }
}

extension AgentClient {
  /// Follows what concerns the app.
  ///
  /// - Parameter last: The last entry that is known already: what came after it is told first. Nil to
  ///   begin with what happens from now on.
  public func events(after last: Int64? = nil) -> AgentEvents {
    AgentEvents(pool: pool, last: last)
  }
}

/// One reading of the events. One task uses it.
final class EventReader: Sendable {
  private struct State: Sendable {
    var stream: EventStream
    var ready: [AgentEvent] = []
    var connection: BodyReader?
    /// Milliseconds to wait before the next attempt.
    var delay: Int64 = EventReader.shortest
  }

  private static let shortest: Int64 = 100
  private static let longest: Int64 = 5000

  private let pool: ConnectionPool
  private let state: Mutex<State>

  init(_ pool: ConnectionPool, after last: Int64?) {
    self.pool = pool
    state = Mutex(State(stream: EventStream(lastID: last.map { String($0) })))
  }

  func next() async throws(AgentError) -> AgentEvent? {
    while true {
      if Task.isCancelled { throw .cancelled }
      if let event = state.withLock({ $0.ready.isEmpty ? nil : $0.ready.removeFirst() }) {
        return event
      }
      do throws(AgentError) {
        try await read()
      } catch {
        state.withLock { $0.connection = nil }
        switch (error.cause, error.code) {
        case (.unreachable, _), (.connectionLost, _), (.timedOut, _), (.agent, .locked),
          (.agent, .tryAgain):
          await pause(atLeast: error.retryAfter)
        default: throw error
        }
      }
    }
  }

  /// Reads some more, on a new connection where there is none.
  private func read() async throws(AgentError) {
    let connection: BodyReader
    if let open = state.withLock({ $0.connection }) {
      connection = open
    } else {
      connection = try await open()
      state.withLock { $0.connection = connection }
    }
    guard let piece = try await connection.next() else {
      throw AgentError(.tryAgain, .connectionLost, "the agent ended the events")
    }
    let isRead = state.withLock { state in
      guard let messages = state.stream.take(piece) else { return false }
      state.delay = Self.shortest
      for message in messages {
        guard let event = AgentEvent(message) else { return false }
        state.ready.append(event)
      }
      return true
    }
    guard isRead else { throw AgentError.notUnderstood("a stream of events") }
  }

  private func open() async throws(AgentError) -> BodyReader {
    let last = state.withLock { state in
      // An event that was cut off is told anew.
      state.stream = EventStream(lastID: state.stream.lastID)
      return state.stream.lastID
    }
    var call = Call(method: "GET", target: "/v1/events")
    call.headers = [("Accept", "text/event-stream")]
    if let last, Text.fitsHeader(last) { call.headers.append(("Last-Event-ID", last)) }
    let (connection, head) = try await pool.begin(call)
    guard head.status == 200 else {
      throw AgentError(head, try await pool.whole(connection, head).bytes)
    }
    return BodyReader(connection, UnixConnection.Body(head), pool)
  }

  private func pause(atLeast seconds: Int?) async {
    let milliseconds = state.withLock { state in
      let delay = max(state.delay, state.stream.retry ?? 0, Int64(min(seconds ?? 0, 3600)) * 1000)
      state.delay = min(state.delay * 2, Self.longest)
      return delay
    }
    // Cut short where the task is cancelled, which the caller looks at.
    try? await Task.sleep(for: .milliseconds(min(milliseconds, 60_000)))
  }
}
