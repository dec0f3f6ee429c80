#ifndef VAULT_CSQLITE_H
#define VAULT_CSQLITE_H

// What Swift cannot import of SQLite: variadic calls, the SQLITE_TRANSIENT cast, and the memory
// methods, which SQLite calls back as plain C functions.

#include <malloc.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// MARK: Memory methods that wipe

static void *vault_sqlite_malloc(int count) { return malloc((size_t)count); }

static void vault_sqlite_free(void *block) {
  if (block == NULL) return;
  explicit_bzero(block, malloc_usable_size(block));
  free(block);
}

// The C library's realloc may move a block and leave the old bytes behind, so it is never called.
static void *vault_sqlite_realloc(void *block, int count) {
  size_t held = malloc_usable_size(block);
  if ((size_t)count <= held && (size_t)count >= held / 2) return block;
  void *moved = malloc((size_t)count);
  if (moved == NULL) return NULL;
  memcpy(moved, block, held < (size_t)count ? held : (size_t)count);
  vault_sqlite_free(block);
  return moved;
}

static int vault_sqlite_size(void *block) {
  return block == NULL ? 0 : (int)malloc_usable_size(block);
}

static int vault_sqlite_roundup(int count) { return (count + 7) & ~7; }
static int vault_sqlite_memory_init(void *context) {
  (void)context;
  return SQLITE_OK;
}
static void vault_sqlite_memory_shutdown(void *context) { (void)context; }

// SQLITE_MISUSE once SQLite has been initialised by somebody else in this process.
static inline int vault_sqlite_install_memory(void) {
  sqlite3_mem_methods methods = {
      vault_sqlite_malloc,  vault_sqlite_free,        vault_sqlite_realloc,         vault_sqlite_size,
      vault_sqlite_roundup, vault_sqlite_memory_init, vault_sqlite_memory_shutdown, NULL};
  int code = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
  // Without statistics an allocation takes no global mutex.
  if (code == SQLITE_OK) code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return code;
}

// MARK: Variadic calls

static inline int vault_sqlite_db_config(sqlite3 *database, int option, int value, int *now) {
  return sqlite3_db_config(database, option, value, now);
}

// Lookaside slots are reused without being wiped; a connection that sees secrets does without.
static inline int vault_sqlite_no_lookaside(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
}

// MARK: Binding with a copy
// An empty span may have no address, and SQLite binds NULL for a null pointer.

static inline int vault_sqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int vault_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
  return sqlite3_bind_text64(
      statement, index, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// MARK: The open file

// Size of the main database file as SQLite's own descriptor sees it; no lock is taken and no second
// descriptor is opened, whose close would drop the process's POSIX locks.
static inline int vault_sqlite_file_size(sqlite3 *database, sqlite3_int64 *size) {
  sqlite3_file *file = NULL;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (file == NULL || file->pMethods == NULL) return SQLITE_MISUSE;
  return file->pMethods->xFileSize(file, size);
}

// errno of the failed call. sqlite3_system_errno is not set where a commit fails; the VFS then still
// knows it for the WAL or journal and for the database itself.
static inline int vault_sqlite_errno(sqlite3 *database) {
  int number = sqlite3_system_errno(database);
  if (number != 0) return number;
  sqlite3_file *journal = NULL;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK &&
      journal != NULL && journal->pMethods != NULL) {
    journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &number);
  }
  if (number == 0) sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

#endif
