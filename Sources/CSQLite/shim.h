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

/// How many frames the log has to hold, by the index that connections share; 0: none.
///
/// The index is the memory of which https://sqlite.org/walformat.html tells ("The WAL-Index Header").
static inline unsigned wsbridge_sqlite_log_frames(sqlite3 *connection) {
  enum { region_size = 32768, max_frame = 16 };
  sqlite3_file *file = NULL;
  void volatile *region = NULL;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2) return 0;
  if (file->pMethods->xShmMap(file, 0, region_size, 0, &region) != SQLITE_OK || !region) return 0;
  return *(unsigned volatile *)((char volatile *)region + max_frame);
}

/// Settings of a connection, whose function is variadic.
static inline int wsbridge_sqlite_configure(sqlite3 *connection, int option, int value) {
  return sqlite3_db_config(connection, option, value, NULL);
}
