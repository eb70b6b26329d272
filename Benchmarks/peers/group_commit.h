// The group commit of the bridge on the same SQLite, and nothing else: a thread that writes, and the bell with which it
// tells the loop.
//
// All that waits when the writer comes for it is one transaction: rows of new messages, then the ends of those that
// were sent, of which the newest 10,000 are kept, and one row of totals.
#pragma once
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "sockets.h"

enum { ENDS_KEPT = 10000 };

/// A message on its way to the disk and back, or its end, which nobody waits for.
struct entry {
    struct entry *next;
    void *owner;  // who waits for it
    uint64_t number;
    size_t count;  // 0: it is an end
    char bytes[];
};

struct list {
    struct entry *first, **last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct list waiting = {.last = &waiting.first}, written = {.last = &written.first};
/// What came in this turn of the loop.
static struct list given = {.last = &given.first};
/// Readable once there is something in `written`.
static int bell = -1;

static void append(struct list *list, struct entry *entry) {
    entry->next = NULL;
    *list->last = entry;
    list->last = &entry->next;
}

static struct entry *take(struct list *list) {
    struct entry *first = list->first;
    *list = (struct list){.last = &list->first};
    return first;
}

static sqlite3 *database;

static void run(const char *sql) {
    char *error = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &error) == SQLITE_OK) return;
    fprintf(stderr, "%s: %s\n", sql, error);
    exit(1);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK, sql);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    check(sqlite3_step(statement) == SQLITE_DONE, sqlite3_errmsg(database));
    sqlite3_reset(statement);
}

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *write_groups(void *nothing) {
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    sqlite3_stmt *add = prepare("INSERT INTO outbox VALUES (1, ?1, ?2, 0, ?3)");
    sqlite3_stmt *end = prepare("INSERT INTO outcomes SELECT connection, number, queued_at, 1, ?2 FROM outbox "
                                "WHERE connection = 1 AND number = ?1");
    sqlite3_stmt *forget = prepare("DELETE FROM outbox WHERE connection = 1 AND number = ?1");
    sqlite3_stmt *trim = prepare("DELETE FROM outcomes WHERE connection = 1 AND number <= ?1");
    sqlite3_stmt *total = prepare("UPDATE connections SET last_message = ?1 WHERE id = 1");
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!waiting.first) pthread_cond_wait(&wanted, &lock);
        struct entry *group = take(&waiting);
        pthread_mutex_unlock(&lock);
        int64_t now = milliseconds();
        step(begin);
        struct list messages = {.last = &messages.first};
        for (struct entry *entry = group, *next; entry; entry = next) {
            next = entry->next;
            if (entry->count > 0) {
                sqlite3_bind_int64(add, 1, (int64_t)entry->number);
                sqlite3_bind_int64(add, 2, now);
                sqlite3_bind_blob(add, 3, entry->bytes, (int)entry->count, SQLITE_STATIC);
                step(add);
                sqlite3_bind_int64(total, 1, (int64_t)entry->number);
                append(&messages, entry);
                continue;
            }
            sqlite3_bind_int64(end, 1, (int64_t)entry->number);
            sqlite3_bind_int64(end, 2, now);
            step(end);
            sqlite3_bind_int64(forget, 1, (int64_t)entry->number);
            step(forget);
            sqlite3_bind_int64(trim, 1, (int64_t)entry->number - ENDS_KEPT);
            step(trim);
            free(entry);
        }
        step(total);
        // It syncs, with `synchronous = FULL`.
        step(commit);
        if (!messages.first) continue;
        pthread_mutex_lock(&lock);
        *written.last = messages.first;
        written.last = messages.last;
        pthread_mutex_unlock(&lock);
        uint64_t one = 1;
        check(write(bell, &one, sizeof one) == sizeof one, "eventfd");
    }
    return nothing;
}

/// Makes the file, and has the writer begin.
static void open_database(const char *path) {
    check(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) ==
              SQLITE_OK, path);
    run("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -2048;"
        "PRAGMA mmap_size = 0; PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;"
        "CREATE TABLE connections (id INTEGER PRIMARY KEY, last_message INTEGER) STRICT;"
        "INSERT INTO connections VALUES (1, 0);"
        "CREATE TABLE outbox (connection INTEGER NOT NULL, number INTEGER NOT NULL, queued_at INTEGER NOT NULL,"
        " kind INTEGER NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (connection, number)) STRICT, WITHOUT ROWID;"
        "CREATE TABLE outcomes (connection INTEGER NOT NULL, number INTEGER NOT NULL, queued_at INTEGER NOT NULL,"
        " state INTEGER NOT NULL, sent_at INTEGER, PRIMARY KEY (connection, number)) STRICT, WITHOUT ROWID;");
    bell = eventfd(0, EFD_CLOEXEC);
    pthread_t thread;
    check(pthread_create(&thread, NULL, write_groups, NULL) == 0, "pthread_create");
}

/// Gives the writer what came in one turn.
static void hand_over(void) {
    if (!given.first) return;
    pthread_mutex_lock(&lock);
    *waiting.last = given.first;
    waiting.last = given.last;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    given = (struct list){.last = &given.first};
}

/// Takes a message in, which is handed over with all others of the turn.
static void give(void *owner, const char *bytes, size_t count) {
    static uint64_t last_number;
    struct entry *entry = malloc(sizeof *entry + count);
    check(entry != NULL, "memory");
    *entry = (struct entry){.owner = owner, .number = ++last_number, .count = count};
    memcpy(entry->bytes, bytes, count);
    append(&given, entry);
}

/// Calls `go_on` with each message that is on disk now, whose end is noted then.
static void take_written(void (*go_on)(struct entry *)) {
    uint64_t rings;
    check(read(bell, &rings, sizeof rings) == sizeof rings, "eventfd");
    pthread_mutex_lock(&lock);
    struct entry *entry = take(&written);
    pthread_mutex_unlock(&lock);
    for (struct entry *next; entry; entry = next) {
        next = entry->next;
        go_on(entry);
        entry->count = 0;
        append(&given, entry);
    }
}
