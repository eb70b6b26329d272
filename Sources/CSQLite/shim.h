#pragma once
#include <sqlite3.h>
#include <stddef.h>

/// The file of a connection's write-ahead log; NULL: there is none.
static inline sqlite3_file *wsbridge_sqlite_log(sqlite3 *connection) {
  sqlite3_file *file = NULL;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK) return NULL;
  return file && file->pMethods ? file : NULL;
}

/// Makes what was written to the log safe from a power cut.
static inline int wsbridge_sqlite_sync(sqlite3_file *file) {
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

/// Whether the database is not any more at its path.
static inline int wsbridge_sqlite_has_moved(sqlite3 *connection) {
  int moved = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/// Settings of a connection, whose function is variadic.
static inline int wsbridge_sqlite_configure(sqlite3 *connection, int option, int value) {
  return sqlite3_db_config(connection, option, value, NULL);
}
