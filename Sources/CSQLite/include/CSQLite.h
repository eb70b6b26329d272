#pragma once
// SQLite is not linked but loaded when a store is opened: who keeps all in memory does not pay for it.
//
// Swift calls SQLite's functions under their own names; those that it calls are defined in sqlite.c and pass on to
// the library. A call of one that is not there yet does not link: it has to be added to the table.
#include <sqlite3.h>

/// Loads SQLite unless that is done; NULL, or why it cannot be used. Any thread may call it, and has to before
/// anything else of SQLite.
const char *_Nullable wsbridge_sqlite_load(void);

/// The file of a connection's write-ahead log; NULL: there is none.
sqlite3_file *_Nullable wsbridge_sqlite_log(sqlite3 *_Nonnull connection);

/// Makes what was written to the log safe from a power cut.
int wsbridge_sqlite_sync(sqlite3_file *_Nonnull file);

/// Whether the database is not any more at its path.
int wsbridge_sqlite_has_moved(sqlite3 *_Nonnull connection);

/// How many frames the log has to hold, by the index that connections share; 0: none.
///
/// The index is the memory of which https://sqlite.org/walformat.html tells ("The WAL-Index Header").
unsigned wsbridge_sqlite_log_frames(sqlite3 *_Nonnull connection);

/// Settings of a connection, whose function is variadic.
int wsbridge_sqlite_configure(sqlite3 *_Nonnull connection, int option, int value);
