internal import CCurl
internal import HTTPTypes

/// libcurl's side of the thread: what waits, what runs, and the handles in reserve. The thread's alone.
@safe final class TransferEngine {
  /// Handles that are kept, each with its buffers.
  private static let reserve = 16

  /// Not owned.
  private let multi: UnsafeMutableRawPointer
  private let capacity: HTTPCapacity
  private var waiting: [Transfer] = []
  /// How many at the beginning of `waiting` are gone already.
  private var gone = 0
  private var running: [ObjectIdentifier: Transfer] = [:]
  /// Owned, each as new.
  private var handles: [UnsafeMutableRawPointer] = unsafe []
  /// When the next transfer's time is up, as far as libcurl does not watch it.
  private var nextDeadline = Int64.max

  init(_ multi: UnsafeMutableRawPointer, _ capacity: HTTPCapacity) {
    unsafe self.multi = multi
    self.capacity = capacity
    unsafe vault_curl_multi_set_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    unsafe vault_curl_multi_set_number(
      multi, CURLMOPT_MAX_HOST_CONNECTIONS, capacity.connectionsPerHost)
    unsafe vault_curl_multi_set_number(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, capacity.transfers)
    unsafe vault_curl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, capacity.transfers)
  }

  func take(_ transfers: [Transfer]) {
    guard !transfers.isEmpty else { return }
    waiting.append(contentsOf: transfers)
    for transfer in transfers { nextDeadline = min(nextDeadline, transfer.deadline ?? .max) }
    startWaiting()
  }

  /// Ends transfers whose outcome is told already.
  func drop(_ transfers: [Transfer]) {
    guard !transfers.isEmpty else { return }
    var isQueued = false
    for transfer in transfers {
      if running[ObjectIdentifier(transfer)] != nil { release(transfer) } else { isQueued = true }
    }
    // What waits would otherwise be kept, secrets and all, until its turn.
    if isQueued { keepWaiting { !$0.outcome.hasEnded } }
    startWaiting()
  }

  /// Lets transfers go on that wait for who reads or gives a body.
  func resume(_ transfers: [Transfer]) {
    for transfer in transfers {
      guard running[ObjectIdentifier(transfer)] != nil, let handle = unsafe transfer.handle else {
        continue
      }
      // Hands out what libcurl has kept meanwhile, and may be told to wait again.
      let code = unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
      if code != CURLE_OK { unsafe end(transfer, code, handle) }
    }
  }

  /// Lets libcurl do what can be done without waiting, and tells what ended.
  func perform() {
    var isNew = true
    while isNew {
      var count: Int32 = 0
      unsafe curl_multi_perform(multi, &count)
      isNew = takeEnded()
    }
    if nextDeadline <= Milliseconds.now() { endOverdue() }
  }

  /// Sleeps until something moves, until somebody wakes the thread, or until a time is up.
  func wait() {
    var limit: Int64 = running.isEmpty ? 60_000 : 1_000
    if nextDeadline != .max { limit = min(limit, max(nextDeadline - Milliseconds.now(), 1)) }
    unsafe curl_multi_poll(multi, nil, 0, Int32(limit), nil)
  }

  /// Ends everything. No handle is left.
  func close(_ submitted: [Transfer]) {
    let all = Array(running.values) + waiting[gone...] + submitted
    for transfer in all { transfer.outcome.cancel(host: transfer.target.host) }
    for transfer in Array(running.values) { release(transfer) }
    while let handle = unsafe handles.popLast() { unsafe curl_easy_cleanup(handle) }
    waiting = []
    gone = 0
  }

  private func startWaiting() {
    while running.count < capacity.transfers, gone < waiting.count {
      let transfer = waiting[gone]
      gone += 1
      start(transfer)
    }
    if gone == waiting.count || gone > 256 {
      waiting.removeFirst(gone)
      gone = 0
    }
  }

  private func start(_ transfer: Transfer) {
    guard !transfer.outcome.hasEnded else { return }
    if let deadline = transfer.deadline, deadline <= Milliseconds.now() {
      transfer.outcome.end { sent in .failure(transfer.overdue(sent)) }
      return
    }
    guard let handle = unsafe handles.popLast() ?? curl_easy_init() else {
      fatalError("no memory for a request")
    }
    unsafe transfer.handle = handle
    do throws(HTTPFailure) {
      try unsafe transfer.settings.apply(to: handle, transfer)
    } catch {
      transfer.outcome.end { _ in .failure(error) }
      unsafe recycle(handle, of: transfer)
      return
    }
    running[ObjectIdentifier(transfer)] = transfer
    let code = unsafe curl_multi_add_handle(multi, handle)
    if code != CURLM_OK { fatalError("no memory for a request") }
  }

  /// Tells what libcurl says has ended, and starts what waited for that.
  ///
  /// - Returns: Whether something was started.
  private func takeEnded() -> Bool {
    var isAny = false
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
      let code = unsafe message.pointee.data.result
      guard let handle = unsafe message.pointee.easy_handle,
        let transfer = unsafe Self.transfer(of: handle)
      else { continue }
      isAny = true
      if code == CURLE_OK {
        let response = transfer.takeReply()
        release(transfer)
        transfer.outcome.end { _ in .success(response) }
      } else {
        unsafe end(transfer, code, handle)
      }
    }
    guard isAny, gone < waiting.count else { return false }
    startWaiting()
    return true
  }

  private func end(
    _ transfer: Transfer, _ code: CURLcode, _ handle: UnsafeMutableRawPointer
  ) {
    let facts = unsafe TransferFacts(handle)
    release(transfer)
    transfer.outcome.end { sent in .failure(transfer.failure(code, facts, sent: sent)) }
  }

  /// libcurl does not watch the time of what waits for a connection, or here.
  private func endOverdue() {
    let now = Milliseconds.now()
    var isQueued = false
    nextDeadline = .max
    for transfer in Array(running.values) + waiting[gone...] {
      guard let deadline = transfer.deadline else { continue }
      // libcurl comes first where it does watch.
      if deadline + 100 <= now {
        transfer.outcome.end { sent in .failure(transfer.overdue(sent)) }
        if running[ObjectIdentifier(transfer)] != nil { release(transfer) } else { isQueued = true }
      } else {
        nextDeadline = min(nextDeadline, deadline + 100)
      }
    }
    if isQueued { keepWaiting { !$0.outcome.hasEnded } }
    startWaiting()
  }

  private func keepWaiting(_ isKept: (Transfer) -> Bool) {
    waiting = waiting[gone...].filter(isKept)
    gone = 0
  }

  /// Takes the handle from libcurl; what the transfer lent it is free again.
  private func release(_ transfer: Transfer) {
    running[ObjectIdentifier(transfer)] = nil
    guard let handle = unsafe transfer.handle else { return }
    unsafe curl_multi_remove_handle(multi, handle)
    unsafe recycle(handle, of: transfer)
  }

  private func recycle(_ handle: UnsafeMutableRawPointer, of transfer: Transfer) {
    unsafe transfer.handle = nil
    unsafe curl_easy_reset(handle)
    // After the handle forgot it, and before the handle may be freed.
    transfer.form = nil
    if unsafe handles.count < Self.reserve {
      unsafe handles.append(handle)
    } else {
      unsafe curl_easy_cleanup(handle)
    }
  }

  private static func transfer(of handle: UnsafeMutableRawPointer) -> Transfer? {
    var context: UnsafeMutableRawPointer?
    unsafe vault_curl_get_pointer(handle, CURLINFO_PRIVATE, &context)
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }
}
