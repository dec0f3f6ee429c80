internal import CCurl
internal import Glibc
internal import HTTPTypes
internal import Sodium

/// One request on its way. Made by the task that sends it; from ``TransferLoop/submit(_:)`` on, all but
/// its outcome is the loop's thread's alone, which makes it Sendable.
@safe final class Transfer: @unchecked Sendable {
  let request: HTTPRequest
  let target: Target
  let outcome = Outcome()
  /// In milliseconds of the clock that never goes back; nil for none.
  let deadline: Int64?
  let settings: TransferSettings

  /// The memory that libcurl reads while the request is sent.
  let url: SecretBytes
  let headers: HeaderList
  var form: MultipartForm? {
    didSet { if form == nil { failedFile = oldValue?.failedFile } }
  }
  /// The file that could not be sent whole.
  private(set) var failedFile: String?

  /// Set while libcurl has it.
  var handle: UnsafeMutableRawPointer?

  /// Lets it go on where it waits for a reader, from any thread.
  let resume: @Sendable () -> Void
  let receiver: (any HTTPReceiver)?
  /// Whether the receiver takes the body.
  private var isWanted = false
  private var reply = Reply()
  /// Bytes of a pulled body so far.
  private var given: Int64 = 0
  /// Why a callback ended the transfer.
  private(set) var verdict: (kind: HTTPFailure.Kind, text: String)?

  /// - Throws: ``HTTPFailure/Kind/badRequest``
  init(
    _ request: HTTPRequest, _ receiver: (any HTTPReceiver)?, _ settings: TransferSettings,
    resume: @escaping @Sendable (Transfer) -> Void = { _ in }
  ) throws(HTTPFailure) {
    // Set below: what is called holds no reference, so that a reader keeps no transfer.
    let place = Place()
    self.resume = { if let transfer = place.transfer { resume(transfer) } }
    target = try Target(request.url)
    guard !request.method.isEmpty,
      request.method.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }),
      request.method != "CONNECT"
    else {
      throw .badRequest("\(target.host): not a method")
    }
    if request.method == "HEAD", case .none = request.body {
    } else if request.method == "HEAD" {
      throw .badRequest("\(target.host): a HEAD request has no body")
    }
    url = try RequestLines.url(of: request)
    headers = try RequestLines.headers(of: request)
    deadline = request.limits.total.map { Milliseconds.now() + $0 }
    self.request = request
    self.receiver = receiver
    self.settings = settings
    place.transfer = self
    if case .pulled(let reader, _, _) = request.body { reader.onReadable(self.resume) }
  }

  /// What came, when libcurl says that it is whole. Once.
  func takeReply() -> HTTPResponse {
    var whole = Reply()
    swap(&whole, &reply)
    return whole.finish()
  }

  // MARK: What libcurl calls, on the thread

  func take(line: RawSpan) -> Bool {
    switch reply.take(line: line) {
    case .more: return true
    case .begun:
      guard let receiver else { return true }
      guard !outcome.hasEnded else { return false }
      isWanted = receiver.begin(status: reply.status, headers: reply.headers)
      return true
    case .tooLarge:
      verdict = (.tooLarge, "the reply has more than \(Reply.headerLimit >> 10) KiB of headers")
      return false
    }
  }

  enum Taking { case taken, wait, end }

  func take(piece: RawSpan) -> Taking {
    let reader = isWanted ? receiver : nil
    // Before it is counted: what has to wait comes again.
    if let reader, request.mayPause, !outcome.hasEnded,
      !reader.hasRoom(for: piece.byteCount, orCall: resume)
    {
      return .wait
    }
    guard reply.count(piece.byteCount, limit: request.limits.body) else {
      verdict = (.tooLarge, "the reply is larger than \(request.limits.body) bytes")
      return .end
    }
    guard let reader else {
      reply.keep(piece)
      return .taken
    }
    guard !outcome.hasEnded else { return .end }
    guard reader.receive(piece) else {
      verdict = (.refused, "the rest of the reply was not wanted")
      return .end
    }
    return .taken
  }

  /// Writes the next bytes of a pulled body.
  func give(_ target: UnsafeMutableRawBufferPointer) -> HTTPBodyStep {
    guard case .pulled(let reader, let length, _) = request.body, !outcome.hasEnded else {
      return .broken
    }
    let left = length.map { $0 - given } ?? .max
    guard left > 0 else { return .end }
    let limit = Int(min(Int64(target.count), left))
    let step = reader.read(limit) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
    switch step {
    case .bytes(let count):
      given += Int64(count)
      return step
    case .notYet: return step
    case .end where length == nil: return step
    // The server waits for what was announced.
    case .end, .broken:
      verdict = (.body, "the rest of the request did not come")
      return .broken
    }
  }

  func progress(sent: Int64, ofSent: Int64, received: Int64, ofReceived: Int64) -> Bool {
    guard let receiver else { return true }
    guard !outcome.hasEnded else { return false }
    receiver.progress(
      sent: sent, ofSent: ofSent > 0 ? ofSent : nil, received: received,
      ofReceived: ofReceived > 0 ? ofReceived : nil)
    return true
  }

  var mayBeSent: Bool {
    outcome.mayBeSent(isSafe: request.method == "GET" || request.method == "HEAD")
  }
}

/// Where a transfer is found as long as it is there. Written once, before anybody else has it.
private final class Place: @unchecked Sendable {
  weak var transfer: Transfer?
}

/// A clock that never goes back.
enum Milliseconds {
  static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
