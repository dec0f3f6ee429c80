import CSQLite
package enum SQLiteX { package static func f() -> Int32 { sqlite3_libversion_number() } }
