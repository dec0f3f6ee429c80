import Faults
import FileSystem
import SQLite

/// Runs calls to SQLite and says what was being done where one of them fails.
@inline(__always)
func sql<R: ~Copyable>(
  _ operation: @autoclosure () -> String, _ body: () throws(SQLiteError) -> R
) throws(VaultError) -> R {
  do throws(SQLiteError) {
    return try body()
  } catch {
    throw .storage(error, operation())
  }
}

/// Runs calls to the file system and says what was being done where one of them fails.
@inline(__always)
func files<R: ~Copyable>(
  _ operation: @autoclosure () -> String, _ body: () throws(FileError) -> R
) throws(VaultError) -> R {
  do throws(FileError) {
    return try body()
  } catch {
    throw .file(error, operation())
  }
}

extension Connection {
  /// The first column of the first row; 0 where there is none.
  func integer(_ query: String) throws(SQLiteError) -> Int64 {
    let select = try prepare(query, persistent: false)
    return try select.step() ? select.int(0) : 0
  }
}
