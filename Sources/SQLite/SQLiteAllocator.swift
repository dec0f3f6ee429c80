import CSQLite

/// SQLite's heap, wiped.
///
/// Secrets pass through it (a token response being parsed, for one). Every block is overwritten
/// before it is freed or moved, so that neither a later allocation nor a core dump shows it.
package enum SQLiteAllocator {
  /// Puts the wiping methods in place, once in the life of the process.
  ///
  /// ``Connection`` does it before it opens anything. The setting is SQLite's and holds for the whole
  /// process; a program that used SQLite by itself before then keeps the heap it had, see
  /// ``isWiping``.
  package static func install() { _ = result }

  /// False when SQLite had been started by other code before ``install()``, whose heap stays in use.
  package static var isWiping: Bool { result == SQLITE_OK }

  private static let result: Int32 = vault_sqlite_install_memory()
}
