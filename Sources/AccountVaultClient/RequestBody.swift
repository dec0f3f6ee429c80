internal import Synchronization
internal import UnixSocket

/// The body of a request that the agent sends.
public struct RequestBody: Sendable {
  let payload: Call.Payload

  /// No body.
  public static let none = RequestBody(payload: .nothing)

  /// These bytes.
  public static func bytes(_ bytes: [UInt8]) -> RequestBody { RequestBody(payload: .bytes(bytes)) }

  /// What a sequence gives, as fast as it is taken: never more than a piece is held.
  ///
  /// It is begun at most once, when the agent asks for it, and ended early where the answer comes
  /// before. What it throws ends the request (``AgentError/Cause/body``).
  ///
  /// - Parameter length: How many bytes there will be, where that is known: some servers take no
  ///   request without.
  public static func stream<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, length: Int? = nil
  ) -> RequestBody where Pieces.Element == [UInt8] {
    RequestBody(
      payload: .stream(
        Stream(length: length) { (upload) throws(AgentError) in
          do {
            for try await piece in pieces {
              guard try await upload.send(piece) else { return }
            }
          } catch let error as AgentError {
            throw error
          } catch {
            throw AgentError(.failed, .body, "the request's body ended with an error: \(error)")
          }
        }))
  }

  struct Stream: Sendable {
    let length: Int?
    let feed: @Sendable (Upload) async throws(AgentError) -> Void

    /// A source that fails leaves a request cut off, which no server takes for a whole one.
    ///
    /// - Returns: Whether the agent took all of it.
    func send(to upload: Upload) async throws(AgentError) -> Bool {
      do throws(AgentError) {
        try await feed(upload)
        return try await upload.finish(length: length)
      } catch {
        upload.cut()
        throw error
      }
    }
  }
}

/// A body on its way.
final class Upload: Sendable {
  private let connection: AgentConnection
  private let isChunked: Bool
  private let path: String
  private let progress = Mutex((count: 0, isRefused: false))

  init(_ connection: AgentConnection, isChunked: Bool, path: String) {
    self.connection = connection
    self.isChunked = isChunked
    self.path = path
  }

  /// - Returns: False where the agent wants no more of it.
  func send(_ piece: [UInt8]) async throws(AgentError) -> Bool {
    guard !piece.isEmpty else { return true }
    return try await put(piece)
  }

  /// - Parameter length: What was announced.
  /// - Returns: Whether the agent took all of it.
  func finish(length: Int?) async throws(AgentError) -> Bool {
    let (count, isRefused) = progress.withLock { $0 }
    guard !isRefused else { return false }
    if isChunked { return try await put([]) }
    if count != length {
      throw AgentError(
        .usage, .body, "the request's body has \(count) bytes, and \(length ?? 0) were announced")
    }
    return true
  }

  private func put(_ piece: [UInt8]) async throws(AgentError) -> Bool {
    let isChunked = isChunked
    let isTaken: Bool
    do throws(SocketError) {
      isTaken = try await connection.use { (connection) throws(SocketError) in
        isChunked ? try connection.sendChunk(piece) : try connection.send(piece)
      }
    } catch {
      throw Task.isCancelled ? .cancelled : AgentError(error, at: path)
    }
    progress.withLock { state in
      state.count += piece.count
      state.isRefused = state.isRefused || !isTaken
    }
    return isTaken
  }

  func cut() { connection.cut() }
}
