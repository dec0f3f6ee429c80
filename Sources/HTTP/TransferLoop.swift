internal import CCurl
internal import Glibc
internal import HTTPTypes
internal import Synchronization

/// The thread that libcurl runs on, and what other threads tell it.
final class TransferLoop: Sendable {
  /// What other threads and this one share. Sendable since it is used under the lock alone.
  @safe private struct Mail: @unchecked Sendable {
    var thread: pthread_t?
    /// The thread's; here only to be woken. Nil once it is to be freed.
    var multi: UnsafeMutableRawPointer?
    var submitted: [Transfer] = []
    var abandoned: [Transfer] = []
    var resumed: [Transfer] = []
    var isStopped = false
    /// Whether the thread waits, or is about to, and nobody has woken it yet.
    var sleeps = false

    mutating func wake() {
      guard sleeps, let multi = unsafe multi else { return }
      sleeps = false
      unsafe curl_multi_wakeup(multi)
    }
  }

  private let mail = Mutex(Mail())
  private let capacity: HTTPCapacity

  init(_ capacity: HTTPCapacity) {
    self.capacity = capacity
  }

  /// Queues a transfer, and starts the thread with the first.
  func submit(_ transfer: Transfer) {
    guard !transfer.outcome.hasEnded else { return }
    let isTaken = mail.withLock { mail in
      guard !mail.isStopped, mail.thread != nil || start(&mail) else { return false }
      mail.submitted.append(transfer)
      mail.wake()
      return true
    }
    if !isTaken {
      transfer.outcome.end { _ in
        .failure(
          HTTPFailure(
            .connect, "\(transfer.target.host): no thread to send from", mayHaveBeenSent: false))
      }
    }
  }

  /// Ends the transfer of a task that no longer waits.
  func abandon(_ transfer: Transfer) {
    mail.withLock { mail in
      guard mail.thread != nil else { return }
      mail.abandoned.append(transfer)
      mail.wake()
    }
  }

  /// Lets a transfer go on that waits for who reads or gives a body.
  func resume(_ transfer: Transfer) {
    mail.withLock { mail in
      guard mail.thread != nil, !mail.isStopped else { return }
      mail.resumed.append(transfer)
      mail.wake()
    }
  }

  /// Ends the thread and waits for that. What is still under way fails as cancelled.
  func stop() {
    let thread = mail.withLock { mail in
      mail.isStopped = true
      mail.wake()
      defer { mail.thread = nil }
      return mail.thread
    }
    guard let thread = thread else { return }
    if pthread_equal(thread, pthread_self()) != 0 {
      // The last to let go was something that the thread itself did: it ends when it is back.
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }

  private func start(_ mail: inout Mail) -> Bool {
    LibraryStart.once()
    guard let multi = unsafe curl_multi_init() else { fatalError("no memory for requests") }
    var thread = pthread_t()
    unsafe mail.multi = multi
    // The thread owns this object until it ends.
    let context = unsafe Unmanaged.passRetained(self)
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<TransferLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard code == 0 else {
      unsafe context.release()
      unsafe mail.multi = nil
      unsafe curl_multi_cleanup(multi)
      return false
    }
    mail.thread = thread
    return true
  }

  private func run() {
    // Signals are for the program's own threads.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    guard let multi = unsafe mail.withLock({ unsafe $0.multi }) else { return }
    let engine = unsafe TransferEngine(multi, capacity)
    while true {
      let (submitted, abandoned, resumed, isStopped) = mail.withLock { mail in
        defer {
          mail.submitted = []
          mail.abandoned = []
          mail.resumed = []
        }
        mail.sleeps = false
        return (mail.submitted, mail.abandoned, mail.resumed, mail.isStopped)
      }
      if isStopped {
        engine.close(submitted)
        mail.withLock { mail in unsafe mail.multi = nil }
        unsafe curl_multi_cleanup(multi)
        return
      }
      engine.take(submitted)
      engine.drop(abandoned)
      engine.resume(resumed)
      engine.perform()
      let mayWait = mail.withLock { mail in
        mail.sleeps =
          mail.submitted.isEmpty && mail.abandoned.isEmpty && mail.resumed.isEmpty
          && !mail.isStopped
        return mail.sleeps
      }
      if mayWait { engine.wait() }
    }
  }
}
