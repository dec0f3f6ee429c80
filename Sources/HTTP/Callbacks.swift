internal import CCurl
internal import HTTPTypes

/// What libcurl calls during a transfer. It is given the transfer unretained: the loop keeps that as long
/// as libcurl has the handle. What it lends are its own bytes, for the time of the call.
enum Callbacks {
  static func set(_ options: inout Options, _ transfer: Transfer) {
    let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
    unsafe options.set(CURLOPT_PRIVATE, pointer: context)
    unsafe options.set(CURLOPT_HEADERDATA, pointer: context)
    unsafe options.set(CURLOPT_HEADERFUNCTION) { start, size, count, context in
      guard let transfer = unsafe Callbacks.transfer(context) else { return 0 }
      let line = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
      // Another number than was given ends the transfer.
      return unsafe transfer.take(line: line.bytes) ? size * count : 0
    }
    unsafe options.set(CURLOPT_WRITEDATA, pointer: context)
    unsafe options.set(CURLOPT_WRITEFUNCTION) { start, size, count, context in
      guard let transfer = unsafe Callbacks.transfer(context) else { return 0 }
      let piece = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
      switch unsafe transfer.take(piece: piece.bytes) {
      case .taken: return size * count
      case .wait: return Int(CURL_WRITEFUNC_PAUSE)
      case .end: return 0
      }
    }
    if case .pulled = transfer.request.body {
      unsafe options.set(CURLOPT_READDATA, pointer: context)
      unsafe options.set(CURLOPT_READFUNCTION) { buffer, size, count, context in
        guard let transfer = unsafe Callbacks.transfer(context) else {
          return Int(CURL_READFUNC_ABORT)
        }
        let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
        switch unsafe transfer.give(target) {
        case .bytes(let count): return count
        case .notYet: return Int(CURL_READFUNC_PAUSE)
        case .end: return 0
        case .broken: return Int(CURL_READFUNC_ABORT)
        }
      }
    }
    unsafe options.set(CURLOPT_PREREQDATA, pointer: context)
    unsafe options.setPrerequest { context, _, _, _, _ in
      let transfer = unsafe Callbacks.transfer(context)
      return transfer?.mayBeSent == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
    options.set(CURLOPT_NOPROGRESS, transfer.receiver == nil ? 1 : 0)
    unsafe options.set(CURLOPT_XFERINFODATA, pointer: context)
    unsafe options.setProgress { context, ofReceived, received, ofSent, sent in
      let transfer = unsafe Callbacks.transfer(context)
      let goesOn = transfer?.progress(
        sent: Int64(sent), ofSent: Int64(ofSent), received: Int64(received),
        ofReceived: Int64(ofReceived))
      return goesOn == true ? 0 : 1
    }
  }

  private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }
}
