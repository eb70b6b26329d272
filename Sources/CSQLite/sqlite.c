#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// The definitions below are for this program alone. The library, which calls some of these itself, must find its own.
#pragma GCC visibility push(hidden)
#include "CSQLite.h"

// Result, name, parameters, and how they are passed on; each is checked against its declaration in SQLite's header.
#define FUNCTIONS(F) \
    F(int, sqlite3_open_v2, (const char *path, sqlite3 **db, int flags, const char *vfs), (path, db, flags, vfs)) \
    F(int, sqlite3_close_v2, (sqlite3 *db), (db)) \
    F(int, sqlite3_system_errno, (sqlite3 *db), (db)) \
    F(int, sqlite3_extended_errcode, (sqlite3 *db), (db)) \
    F(int, sqlite3_extended_result_codes, (sqlite3 *db, int on), (db, on)) \
    F(int, sqlite3_busy_timeout, (sqlite3 *db, int milliseconds), (db, milliseconds)) \
    F(int, sqlite3_get_autocommit, (sqlite3 *db), (db)) \
    F(sqlite3_int64, sqlite3_changes64, (sqlite3 *db), (db)) \
    F(const char *, sqlite3_errstr, (int code), (code)) \
    F(void *, sqlite3_wal_hook, (sqlite3 *db, int (*hook)(void *, sqlite3 *, const char *, int), void *owner), \
      (db, hook, owner)) \
    F(int, sqlite3_wal_checkpoint_v2, (sqlite3 *db, const char *name, int mode, int *pages, int *done), \
      (db, name, mode, pages, done)) \
    F(int, sqlite3_file_control, (sqlite3 *db, const char *name, int code, void *argument), \
      (db, name, code, argument)) \
    F(int, sqlite3_exec, \
      (sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *owner, char **error), \
      (db, sql, row, owner, error)) \
    F(int, sqlite3_prepare_v3, \
      (sqlite3 *db, const char *sql, int count, unsigned flags, sqlite3_stmt **made, const char **rest), \
      (db, sql, count, flags, made, rest)) \
    F(int, sqlite3_step, (sqlite3_stmt *statement), (statement)) \
    F(int, sqlite3_reset, (sqlite3_stmt *statement), (statement)) \
    F(int, sqlite3_finalize, (sqlite3_stmt *statement), (statement)) \
    F(sqlite3 *, sqlite3_db_handle, (sqlite3_stmt *statement), (statement)) \
    F(int, sqlite3_clear_bindings, (sqlite3_stmt *statement), (statement)) \
    F(int, sqlite3_bind_null, (sqlite3_stmt *statement, int index), (statement, index)) \
    F(int, sqlite3_bind_int64, (sqlite3_stmt *statement, int index, sqlite3_int64 value), \
      (statement, index, value)) \
    F(int, sqlite3_bind_text, \
      (sqlite3_stmt *statement, int index, const char *text, int count, void (*release)(void *)), \
      (statement, index, text, count, release)) \
    F(int, sqlite3_bind_blob64, \
      (sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count, void (*release)(void *)), \
      (statement, index, bytes, count, release)) \
    F(int, sqlite3_bind_zeroblob, (sqlite3_stmt *statement, int index, int count), (statement, index, count)) \
    F(int, sqlite3_column_type, (sqlite3_stmt *statement, int column), (statement, column)) \
    F(int, sqlite3_column_bytes, (sqlite3_stmt *statement, int column), (statement, column)) \
    F(sqlite3_int64, sqlite3_column_int64, (sqlite3_stmt *statement, int column), (statement, column)) \
    F(const void *, sqlite3_column_blob, (sqlite3_stmt *statement, int column), (statement, column))

#define DECLARE(result, name, parameters, arguments) __typeof__(name) *name##_;
static struct {
    FUNCTIONS(DECLARE)
    __typeof__(sqlite3_db_config) *sqlite3_db_config_;
} library;

#define DEFINE(result, name, parameters, arguments) \
    result name parameters { return library.name##_ arguments; }
FUNCTIONS(DEFINE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char fault[256];

static void load(void) {
    // Never closed: statements and connections may outlive whoever opened them.
    void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(fault, sizeof fault, "%s", dlerror());
        return;
    }
#define FIND(result, name, parameters, arguments) \
    library.name##_ = (__typeof__(name) *)dlsym(handle, #name); \
    if (!library.name##_) { \
        snprintf(fault, sizeof fault, "libsqlite3.so.0 has no %s", #name); \
        return; \
    }
    FUNCTIONS(FIND)
    FIND(int, sqlite3_db_config, , )
}

const char *wsbridge_sqlite_load(void) {
    pthread_once(&once, load);
    return fault[0] ? fault : NULL;
}

sqlite3_file *wsbridge_sqlite_log(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK) return NULL;
    return file && file->pMethods ? file : NULL;
}

int wsbridge_sqlite_sync(sqlite3_file *file) { return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL); }

int wsbridge_sqlite_has_moved(sqlite3 *connection) {
    int moved = 0;
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

unsigned wsbridge_sqlite_log_frames(sqlite3 *connection) {
    enum { region_size = 32768, max_frame = 16 };
    sqlite3_file *file = NULL;
    void volatile *region = NULL;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2) return 0;
    if (file->pMethods->xShmMap(file, 0, region_size, 0, &region) != SQLITE_OK || !region) return 0;
    return *(unsigned volatile *)((char volatile *)region + max_frame);
}

int wsbridge_sqlite_configure(sqlite3 *connection, int option, int value) {
    return library.sqlite3_db_config_(connection, option, value, NULL);
}
