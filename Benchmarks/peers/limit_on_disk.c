// The limit of a durable POST: the group commit of the bridge on the same SQLite, and nothing else. POST in, a row that
// is synced, the answer, WebSocket out, the row's end; one thread with bare epoll, one that writes.
//
// usage: limit_on_disk UPSTREAM_PORT LISTEN_PORT DATABASE
//
// All that waits when the writer comes for it is one transaction: rows of new messages, then the ends of those that
// were sent, of which the newest 10,000 are kept, and one row of totals.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sockets.h"

enum { BUFFER = 64 << 10, ENDS_KEPT = 10000 };

struct peer {
    int descriptor;
    size_t count;
    char *bytes;
};

/// A message on its way to the disk and back, or its end, which nobody waits for.
struct entry {
    struct entry *next;
    struct peer *peer;
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
static int events, bell;
static struct peer upstream, listener, ringer;
static uint64_t last_number;
static char outgoing[BUFFER * 64];
static size_t outgoing_count;

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

// The writer

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
    pthread_t thread;
    check(pthread_create(&thread, NULL, write_groups, NULL) == 0, "pthread_create");
}

/// Gives the writer what came in one turn.
static void hand_over(struct list *list) {
    if (!list->first) return;
    pthread_mutex_lock(&lock);
    *waiting.last = list->first;
    waiting.last = list->last;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    *list = (struct list){.last = &list->first};
}

// The loop

static struct list given = {.last = &given.first};

static void watch(struct peer *peer, uint32_t what, int operation) {
    struct epoll_event event = {.events = what, .data.ptr = peer};
    check(epoll_ctl(events, operation, peer->descriptor, &event) == 0, "epoll_ctl");
}

// Masked, as a client has to.
static void forward(const char *text, size_t count) {
    static const unsigned char key[4] = {0x12, 0x34, 0x56, 0x78};
    check(outgoing_count + count + 8 < sizeof outgoing, "a body that is too long");
    unsigned char *out = (unsigned char *)outgoing + outgoing_count, *start = out;
    *out++ = 0x81;
    if (count < 126) {
        *out++ = (unsigned char)(0x80 | count);
    } else {
        *out++ = 0x80 | 126;
        *out++ = (unsigned char)(count >> 8);
        *out++ = (unsigned char)count;
    }
    out = mempcpy(out, key, 4);
    for (size_t index = 0; index < count; index++) *out++ = (unsigned char)text[index] ^ key[index % 4];
    outgoing_count += (size_t)(out - start);
}

static void flush(void) {
    if (outgoing_count == 0) return;
    ssize_t sent = send(upstream.descriptor, outgoing, outgoing_count, MSG_NOSIGNAL | MSG_DONTWAIT);
    check(sent >= 0 || errno == EAGAIN, "the upstream does not take bytes");
    if (sent <= 0) return;
    memmove(outgoing, outgoing + sent, outgoing_count - (size_t)sent);
    outgoing_count -= (size_t)sent;
}

/// What is on disk now is answered for and goes out, and its end is noted.
static void go_on(void) {
    static const char accepted[] = "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\n"
                                   "Content-Length: 34\r\n\r\n{\"id\":\"00000000\",\"state\":\"queued\"}";
    uint64_t rings;
    check(read(bell, &rings, sizeof rings) == sizeof rings, "eventfd");
    pthread_mutex_lock(&lock);
    struct entry *entry = take(&written);
    pthread_mutex_unlock(&lock);
    for (struct entry *next; entry; entry = next) {
        next = entry->next;
        check(send(entry->peer->descriptor, accepted, sizeof accepted - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0, "send");
        forward(entry->bytes, entry->count);
        entry->count = 0;
        append(&given, entry);
    }
}

// Takes one whole request off the front of the buffer.
static bool serve(struct peer *peer) {
    char *end = memmem(peer->bytes, peer->count, "\r\n\r\n", 4);
    if (!end) return false;
    size_t fields = (size_t)(end + 4 - peer->bytes), body = 0;
    *end = 0;
    char *length = strcasestr(peer->bytes, "\r\ncontent-length:");
    *end = '\r';
    if (length) body = strtoul(length + 17, NULL, 10);
    if (peer->count < fields + body) return false;
    struct entry *entry = malloc(sizeof *entry + body);
    *entry = (struct entry){.peer = peer, .number = ++last_number, .count = body};
    memcpy(entry->bytes, peer->bytes + fields, body);
    append(&given, entry);
    peer->count -= fields + body;
    memmove(peer->bytes, peer->bytes + fields + body, peer->count);
    return peer->count > 0;
}

static void read_peer(struct peer *peer) {
    ssize_t got = recv(peer->descriptor, peer->bytes + peer->count, BUFFER - peer->count, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        // Its memory stays, as messages of its may be on their way.
        watch(peer, 0, EPOLL_CTL_DEL);
        close(peer->descriptor);
        return;
    }
    if (got < 0) return;
    peer->count += (size_t)got;
    while (serve(peer)) continue;
}

static void accept_peers(void) {
    int descriptor, one = 1;
    while ((descriptor = accept4(listener.descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct peer *peer = calloc(1, sizeof *peer);
        *peer = (struct peer){.descriptor = descriptor, .bytes = malloc(BUFFER)};
        watch(peer, EPOLLIN, EPOLL_CTL_ADD);
    }
}

static void begin(uint16_t upstream_port, uint16_t port) {
    events = epoll_create1(0);
    ringer.descriptor = bell = eventfd(0, EFD_CLOEXEC);
    watch(&ringer, EPOLLIN, EPOLL_CTL_ADD);
    upstream.descriptor = dial(upstream_port);
    watch(&upstream, EPOLLIN, EPOLL_CTL_ADD);
    listener.descriptor = listen_on(port);
    watch(&listener, EPOLLIN, EPOLL_CTL_ADD);
}

int main(int count, char **arguments) {
    if (count < 4) return fprintf(stderr, "usage: limit_on_disk UPSTREAM_PORT LISTEN_PORT DATABASE\n"), 64;
    open_database(arguments[3]);
    begin((uint16_t)atoi(arguments[1]), (uint16_t)atoi(arguments[2]));
    for (;;) {
        struct epoll_event ready[512];
        int ready_count = epoll_wait(events, ready, 512, -1);
        for (int index = 0; index < ready_count; index++) {
            struct peer *peer = ready[index].data.ptr;
            if (peer == &listener) accept_peers();
            else if (peer == &ringer) go_on();
            else if (peer == &upstream) exit(0);
            else read_peer(peer);
        }
        flush();
        hand_over(&given);
    }
}
