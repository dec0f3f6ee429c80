internal import AccountVault
internal import Faults
internal import Listener
internal import Synchronization

/// The body of an app's request on its way to a provider: what was read of it before, then the rest.
final class SendBody: RequestBodyReader {
  private let first: Mutex<ArraySlice<UInt8>>
  private let rest: IncomingBody?

  init(_ first: [UInt8], then rest: IncomingBody?) {
    self.first = Mutex(first[...])
    self.rest = rest
  }

  func onReadable(_ wake: @escaping @Sendable () -> Void) { rest?.onReadable(wake) }

  func read(_ limit: Int, _ body: (RawSpan) -> Void) -> RequestBodyStep {
    let piece = first.withLock { first in
      let piece = Array(first.prefix(limit))
      first = first.dropFirst(piece.count)
      return piece
    }
    if !piece.isEmpty {
      // The array outlives the call.
      unsafe body(piece.span.bytes)
      return .bytes(piece.count)
    }
    guard let rest else { return .end }
    switch rest.read(limit, body) {
    case .bytes(let count): return .bytes(count)
    case .notYet: return .notYet
    case .end: return .end
    case .broken: return .broken
    }
  }
}

extension IncomingBody {
  /// Reads until the end, or until there are more than `limit` bytes.
  ///
  /// - Returns: What came, and whether that is all.
  /// - Throws: ``VaultError``: `tryAgain` where the client went away.
  func first(_ limit: Int) async throws(VaultError) -> (bytes: [UInt8], isWhole: Bool) {
    let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    onReadable { signal.continuation.yield() }
    var turns = signal.stream.makeAsyncIterator()
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      let step = read(limit + 1 - bytes.count) { piece in
        // A byte has no invalid form, and each is inside.
        for offset in 0..<piece.byteCount {
          bytes.append(unsafe piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
        }
      }
      switch step {
      case .bytes: continue
      case .end: return (bytes, true)
      case .notYet:
        if await turns.next() == nil { throw .clientLeft }
      case .broken: throw .clientLeft
      }
    }
    return (bytes, false)
  }
}

extension VaultError {
  fileprivate static var clientLeft: VaultError {
    VaultError(.tryAgain, "the request's body did not come")
  }
}
