internal import AccountVault
internal import Accounts
internal import Command
internal import Faults
internal import Ledger
internal import Listener
internal import Sodium

/// `GET /v1/events`: the entries that are about the app, as server-sent events.
///
/// An event's `id` is the entry's number, its name the entry's event, and its `data` the entry. With
/// `Last-Event-ID` it goes on where it ended, but never before the app was added: what happened under its
/// id until another program was removed is not its own. Without it begins with what comes. It ends when the vault
/// is locked, and when the app gets a new key or is removed: the key that was shown is over then.
enum AppEvents {
  /// Seconds between two lines that say nothing: they keep the connection, and find out who has gone.
  private static let heartbeat: UInt64 = 15

  static let events: AppRoute.Serve = { (session, call) throws(VaultError) in
    _ = try call.query([])
    var from = try session.entryCount()
    if let last = try lastSeen(call.request) { from = min(from, last + 1) }
    let headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]
    if call.request.message.method == "HEAD" {
      return .reply(
        SocketServer.Reply(
          200, headers: headers, body: .bytes(SharedSecret(SecretBytes(count: 0)))))
    }
    let body: OutgoingBody
    do { body = try OutgoingBody() } catch {
      throw VaultError(.tryAgain, "the agent has no descriptor left", reason: .busy)
    }
    let watch = LockWatch(call.core.keeper)
    let pool: SessionPool
    do throws(VaultError) { pool = try call.core.keeper.pool() } catch {
      watch.forget()
      throw error
    }
    let stream = Stream(call: call, pool: pool, body: body, from: from)
    let task = Task.detached { await stream.run() }
    watch.end(task)
    var reply = SocketServer.Reply(200, headers: headers, body: .stream(body))
    reply.afterwards = {
      watch.forget()
      task.cancel()
    }
    return .reply(reply)
  }

  /// The number in `Last-Event-ID`.
  ///
  /// - Throws: ``VaultError``: `usage`.
  private static func lastSeen(_ request: SocketServer.Request) throws(VaultError) -> UInt64? {
    var values: [String] = []
    for header in request.message.headers where header.name.lowercased() == "last-event-id" {
      values.append(header.value)
    }
    guard let text = values.first else { return nil }
    guard values.count == 1, (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text)
    else { throw .wrongBody("Last-Event-ID is the number of an entry") }
    return number
  }

  /// One app's connection while it lasts.
  private struct Stream: Sendable {
    let call: AppCall
    let pool: SessionPool
    let body: OutgoingBody
    let from: UInt64

    func run() async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await follow() }
        group.addTask {
          while !Task.isCancelled, write(":\n\n") {
            try? await Task.sleep(nanoseconds: heartbeat * 1_000_000_000)
          }
        }
        // Whichever ends first ends the other.
        await group.next()
        group.cancelAll()
      }
      body.finish()
    }

    private func follow() async {
      do throws(VaultError) {
        let own = try ownEntries()
        // Removed meanwhile: what comes is not its own.
        let isCurrent = try pool.withSession { (session) throws(VaultError) in
          try session.isCurrent(call.app)
        }
        guard isCurrent else { return }
        for try await entry in pool.changes(from: own) where entry.app == call.app.id {
          let text = try pool.withSession { (session) throws(VaultError) -> String? in
            let sees = try session.isSeen(entry, by: call.app.id)
            return event(entry, AppObjects.entry(entry, seesAccount: sees))
          }
          guard let text, await hasRoom(for: text.utf8.count), write(text) else { return }
          guard entry.event == .appKeyChanged || entry.event == .appRemoved else { continue }
          // Of long ago, or just now.
          let isOver = try pool.withSession { (session) throws(VaultError) in
            try !session.isCurrent(call.app)
          }
          if isOver { return }
        }
      } catch {
        call.core.keeper.meet(error)
      }
    }

    /// The number from which on entries that name the app are its own: those before the last removal
    /// are of another program, which had its id.
    private func ownEntries() throws(VaultError) -> UInt64 {
      var end = try pool.withSession { (session) throws(VaultError) in try session.entryCount() }
      while end > from, !Task.isCancelled {
        var query = HistoryQuery()
        query.app = call.app.id
        query.event = .appRemoved
        query.to = end
        // A session serves others too.
        end = max(from, end - min(end, 4096))
        query.from = end
        query.limit = 1
        let asked = query
        let removal = try pool.withSession { (session) throws(VaultError) -> UInt64? in
          var found: UInt64?
          try session.history(asked) { found = $0.number }
          return found
        }
        if let removal { return removal + 1 }
      }
      return from
    }

    private func event(_ entry: Entry, _ object: JSONObject) -> String {
      "id: \(entry.number)\nevent: \(entry.event.rawValue)\ndata: \(object.line)\n\n"
    }

    /// Waits while the client reads more slowly than entries come.
    private func hasRoom(for count: Int) async -> Bool {
      while !Task.isCancelled {
        let (rung, ring) = AsyncStream<Void>.makeStream()
        if body.hasRoom(for: count, orCall: { ring.finish() }) { return true }
        for await _ in rung {}
      }
      return false
    }

    private func write(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      // Copied in the call, which the array outlives.
      return unsafe body.write(bytes.span.bytes)
    }
  }
}
