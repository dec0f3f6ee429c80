internal import CSystem

/// Sockets that listen.
package enum UnixListener {
  /// Makes a socket's file with these permission bits and no others, from its first moment on, and
  /// listens.
  ///
  /// The umask is the process's and changes for a moment: no other thread may make files meanwhile.
  ///
  /// - Returns: A descriptor that is the caller's, closed on exec.
  /// - Throws: ``SocketError``: `system` with `EADDRINUSE` (98) where something of that name is there.
  package static func open(path: String, mode: UInt32, backlog: Int32 = 64) throws(SocketError)
    -> Int32
  {
    let descriptor = unsafe path.withCString { unsafe vault_unix_listen($0, mode, backlog) }
    if descriptor >= 0 { return descriptor }
    let error = vault_errno()
    // ENAMETOOLONG
    throw error == 36 ? .pathTooLong(limit: Int(vault_unix_path_limit())) : .system(error)
  }
}
