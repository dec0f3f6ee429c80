import HTTPTypes
import Sodium
import Synchronization

/// Takes a reply while it comes: hands a success out at once, and keeps what may be a refusal until it is
/// known what it means.
///
/// Some providers put errors into replies with a status of success, and their definitions say so: the
/// first bytes of such a reply are kept too. A body that ends within them is read as a whole, and a
/// longer one is no error.
final class Reception: HTTPReceiver {
  /// As much of a success is kept, in bytes, before it is handed out.
  static let holdsOfSuccess = 16_384
  /// As much of a refusal is kept; the rest is cut off.
  static let holdsOfRefusal = 262_144

  private enum Phase { case holding, streaming, cut }

  private struct State {
    var status = 0
    var headers: [(name: String, value: String)] = []
    var held: [SharedSecret] = []
    var heldCount = 0
    var phase = Phase.holding
    var hasHandedOut = false
  }

  private let state = Mutex(State())
  private let receiver: any ResponseReceiver
  /// The receiver, as far as it is handed what the provider said.
  private let answer: CoveredAnswer

  /// Whether a success may be a refusal by what is in it.
  private let readsSuccess: Bool

  /// - Parameters:
  ///   - readsSuccess: Whether the provider puts errors into replies with a status of success.
  ///   - mask: What of the request's secrets the receiver must not be shown.
  init(_ receiver: any ResponseReceiver, readsSuccess: Bool, mask: SecretMask) {
    self.receiver = receiver
    answer = CoveredAnswer(receiver, mask: mask)
    self.readsSuccess = readsSuccess
  }

  // MARK: From the transport

  func begin(status: Int, headers: [(name: String, value: String)]) -> Bool {
    let streams = (200...299).contains(status) && !(readsSuccess && Self.mayHoldError(headers))
    state.withLock { state in
      state.status = status
      state.headers = headers
      state.held = []
      state.heldCount = 0
      state.phase = streams ? .streaming : .holding
      if streams { state.hasHandedOut = true }
    }
    if streams { answer.begin(status: status, headers: headers) }
    return true
  }

  func receive(_ piece: RawSpan) -> Bool {
    switch state.withLock({ $0.phase }) {
    case .streaming: return answer.receive(piece)
    case .cut: return false
    case .holding: break
    }
    let copy = SharedSecret(SecretBytes(copying: piece))
    let phase = state.withLock { state in
      let isSuccess = (200...299).contains(state.status)
      let room = isSuccess ? Self.holdsOfSuccess : Self.holdsOfRefusal
      let count = state.heldCount + copy.count
      if isSuccess || count <= room {
        state.held.append(copy)
        state.heldCount = count
      }
      if count > room { state.phase = isSuccess ? .streaming : .cut }
      return state.phase
    }
    switch phase {
    case .holding: return true
    case .cut: return false
    case .streaming: return handOut()
    }
  }

  func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool {
    guard state.withLock({ $0.phase == .streaming }) else { return true }
    return receiver.hasRoom(for: count, orCall: wake)
  }

  func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?) {
    receiver.progress(sent: sent, ofSent: ofSent, received: received, ofReceived: ofReceived)
  }

  /// Texts in which providers write errors. An unnamed one may be any.
  private static func mayHoldError(_ headers: [(name: String, value: String)]) -> Bool {
    guard let type = headers.first(where: { $0.name.lowercased() == "content-type" })?.value
    else { return true }
    let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    return name.isEmpty || name.hasSuffix("json") || name == "application/x-www-form-urlencoded"
      || name.hasSuffix("javascript") || name == "text/plain" || name == "text/html"
  }

  // MARK: For the request

  /// Whether the caller has seen something of a reply: then no other can follow it.
  var hasHandedOut: Bool { state.withLock { $0.hasHandedOut } }

  /// The reply whose rest was cut off; nil where none was.
  var cut: HTTPResponse? {
    let held = held()
    return state.withLock { state in
      state.phase == .cut
        ? HTTPResponse(status: state.status, headers: state.headers, body: held) : nil
    }
  }

  /// What was kept of the body.
  func held() -> SharedSecret {
    let pieces = state.withLock { $0.phase == .streaming ? [] : $0.held }
    var joined = SecretBytes(count: pieces.reduce(0) { $0 + $1.count })
    joined.withMutableBytes { target in
      var place = 0
      for piece in pieces {
        piece.withBytes { bytes in
          for offset in 0..<bytes.byteCount {
            // A byte has no invalid form, and the offset is inside.
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
            place += 1
          }
        }
      }
    }
    return SharedSecret(joined)
  }

  /// Forgets a reply that another try follows.
  func reset() { state.withLock { $0 = State() } }

  /// The reply is over: hands out whatever was kept of it.
  func finish() {
    if handOut() { _ = answer.finish() }
  }

  /// Hands out what was kept.
  ///
  /// - Returns: False where the receiver wants no more.
  func handOut() -> Bool {
    let (status, headers, held, isFirst) = state.withLock { state in
      let taken = (state.status, state.headers, state.held, !state.hasHandedOut)
      state.held = []
      state.hasHandedOut = true
      return taken
    }
    guard status > 0 else { return true }
    if isFirst { answer.begin(status: status, headers: headers) }
    for piece in held {
      let goesOn = piece.withBytes { $0.byteCount == 0 || answer.receive($0) }
      if !goesOn { return false }
    }
    return true
  }
}

/// A transport whose replies are kept by a reception, so that what reads them sees their bodies.
struct ReceivingTransport: Transport {
  let transport: any Transport
  let reception: Reception

  func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    reception.reset()
    do throws(HTTPFailure) {
      var response = try await transport.send(request, to: reception)
      if response.body.count == 0 { response.body = reception.held() }
      return response
    } catch {
      if error.kind == .refused, let response = reception.cut { return response }
      throw error
    }
  }
}

/// Keeps a body in memory, for callers who gave no receiver.
final class KeptBody: ResponseReceiver {
  private let bytes = Mutex<[UInt8]>([])

  var taken: [UInt8] { bytes.withLock { $0 } }

  func begin(status: Int, headers: [(name: String, value: String)]) {}

  func receive(_ piece: RawSpan) -> Bool {
    var copy: [UInt8] = []
    copy.reserveCapacity(piece.byteCount)
    for offset in 0..<piece.byteCount {
      // A byte has no invalid form, and the offset is inside.
      copy.append(unsafe piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    bytes.withLock { $0 += copy }
    return true
  }
}
