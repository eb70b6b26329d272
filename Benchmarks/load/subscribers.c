#include "load.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE = 512, AT_A_TIME = 100 };

/// Streams of one path.
struct group {
    const char *path;
    int count, kind;
};

struct subscriber {
    struct source source;
    enum { CONNECTING, HEAD, CHUNKS, TEXT } state;  // chunks, or a body that ends with the connection
    enum { SIZE, DATA, END } chunk;
    const struct group *group;
    uint64_t left;       // of the chunk
    uint64_t got, sum;   // messages, and the sum of their numbers
    size_t line_count;
    char line[LINE];     // a line that is not complete; what is longer is cut
};

struct deliveries deliveries;
static struct subscriber *subscribers;
static struct group groups[512];
static int group_count, wanted, opened;
static uint64_t kind_count, *takers;  // 1 where messages have none; how many streams show each kind
static uint16_t server_port;

/// `data: NANOSECONDS NUMBER ...`
static void take_line(struct subscriber *it, const char *line, size_t count) {
    if (count < 5 || memcmp(line, "data:", 5) != 0) return;
    uint64_t sent, number;
    if (!read_stamp(line + 5, line + count, &sent, &number)) {
        deliveries.unlike++;
        return;
    }
    it->got++;
    it->sum += number;
    deliveries.count++;
    if (deliveries.measuring) record(deliveries.latency, now_ns() - sent);
}

static void take_text(struct subscriber *it, const char *text, size_t count) {
    while (count > 0) {
        const char *end = memchr(text, '\n', count);
        size_t part = end ? (size_t)(end - text) : count;
        if (it->line_count > 0 || !end) {
            size_t room = LINE - it->line_count, kept = part < room ? part : room;
            memcpy(it->line + it->line_count, text, kept);
            it->line_count += kept;
        }
        if (!end) return;
        if (it->line_count > 0) {
            take_line(it, it->line, it->line_count);
            it->line_count = 0;
        } else {
            take_line(it, text, part);
        }
        text += part + 1;
        count -= part + 1;
    }
}

static void take_chunks(struct subscriber *it, const char *bytes, size_t count) {
    while (count > 0) {
        if (it->chunk == DATA) {
            size_t part = count < it->left ? count : it->left;
            take_text(it, bytes, part);
            bytes += part;
            count -= part;
            it->left -= part;
            if (it->left == 0) it->chunk = END;
            continue;
        }
        char byte = *bytes++;
        count--;
        if (it->chunk == END) {
            if (byte == '\n') it->chunk = SIZE;
        } else if (byte == '\n') {
            if (it->left == 0) fail("a stream ended");
            it->chunk = DATA;
        } else if (byte != '\r') {
            it->left = it->left * 16 + (uint64_t)(byte <= '9' ? byte - '0' : (byte | 32) - 'a' + 10);
        }
    }
}

static void take_body(struct subscriber *it, const char *bytes, size_t count) {
    if (it->state == CHUNKS) take_chunks(it, bytes, count);
    else take_text(it, bytes, count);
}

/// The head, byte by byte: it comes once.
static void take_head(struct subscriber *it, const char *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (it->line_count < LINE - 1) it->line[it->line_count++] = bytes[index];
        else memmove(it->line, it->line + 1, LINE - 2), it->line[LINE - 2] = bytes[index];
        if (it->line_count < 4 || memcmp(it->line + it->line_count - 4, "\r\n\r\n", 4) != 0) continue;
        it->line[it->line_count] = 0;
        if (!strstr(it->line, " 200 ")) fail("not an event stream: %s", it->line);
        it->line_count = 0;
        it->state = strcasestr(it->line, "\r\ntransfer-encoding: chunked") ? CHUNKS : TEXT;
        opened++;
        return take_body(it, bytes + index + 1, count - index - 1);
    }
}

static void ready(struct source *source, uint32_t events) {
    static char buffer[256 << 10];
    struct subscriber *it = (struct subscriber *)source;
    if (it->state == CONNECTING) {
        char request[1024];
        int request_count = snprintf(request, sizeof request,
                                     "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n\r\n",
                                     it->group->path, server_port);
        if (send(source->descriptor, request, (size_t)request_count, MSG_NOSIGNAL) != request_count)
            fail("a subscriber cannot ask");
        it->state = HEAD;
        return watch(source, EPOLLIN, EPOLL_CTL_MOD);
    }
    ssize_t got = recv(source->descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("a subscriber was dropped (events %#x)", events);
    if (it->state == HEAD) take_head(it, buffer, (size_t)got);
    else take_body(it, buffer, (size_t)got);
}

void add_streams(int count, int kind, const char *path) {
    if (group_count == COUNT(groups)) fail("too many paths");
    groups[group_count++] = (struct group){path, count, kind};
    wanted += count;
}

int stream_count(void) { return wanted; }

void subscribe_all(uint16_t port, int kinds) {
    server_port = port;
    kind_count = kinds > 0 ? (uint64_t)kinds : 1;
    subscribers = calloc((size_t)wanted, sizeof *subscribers);
    takers = calloc(kind_count, sizeof *takers);
    struct subscriber *next = subscribers;
    for (struct group *group = groups; group < groups + group_count; group++) {
        for (int index = 0; index < group->count; index++) (next++)->group = group;
        for (int kind = 0; kind < (int)kind_count; kind++)
            if (group->kind == EVERY_KIND || group->kind == kind) takers[kind] += (uint64_t)group->count;
    }
    uint64_t deadline = now_ns() + 60000000000ull;
    for (int begun = 0; opened < wanted;) {
        for (; begun < wanted && begun - opened < AT_A_TIME; begun++) {
            subscribers[begun].source = (struct source){dial(port, false), ready};
            watch(&subscribers[begun].source, EPOLLOUT, EPOLL_CTL_ADD);
        }
        turn(100000000);
        check_process();
        if (now_ns() > deadline) fail("only %d of %d streams opened", opened, wanted);
    }
}

uint64_t deliveries_of(uint64_t number) { return takers[number % kind_count]; }

void check_deliveries(uint64_t published) {
    for (int index = 0; index < wanted; index++) {
        const struct subscriber *it = &subscribers[index];
        uint64_t step = it->group->kind == EVERY_KIND ? 1 : kind_count;
        uint64_t first = it->group->kind > 0 ? (uint64_t)it->group->kind : step;
        uint64_t due = it->group->kind == NO_KIND || published < first ? 0 : (published - first) / step + 1;
        uint64_t sum = due > 0 ? due * first + step * (due * (due - 1) / 2) : 0;
        if (it->got != due || it->sum != sum)
            fail_at_delivery("subscriber %d of %s got %llu of %llu messages", index, it->group->path,
                             (unsigned long long)it->got, (unsigned long long)due);
    }
}
