// The limit: a bridge that does nothing but move the bytes. WebSocket in, server-sent events out, POST in,
// WebSocket out; one thread, bare epoll, no library, no checks, no history, no heartbeat. What it costs is what
// the kernel costs, so a ratio to it says what a real bridge adds.
//
// usage: limit UPSTREAM_PORT LISTEN_PORT [each]
// `each` sends every message by itself; without it, messages that arrive together leave together.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "outgoing.h"
#include "sockets.h"

enum { RING = 8 << 20, BUFFER = 64 << 10, REASONABLE_LAG = RING - BUFFER };

struct peer {
    int descriptor;
    enum { REQUESTS, EVENTS } kind;
    bool blocked, dead;
    uint64_t cursor;  // in the ring, of a subscriber
    struct peer *next, *previous, *next_dead;
    char *bytes;  // of a request that is not complete
    size_t count;
};

static char *ring;  // mapped twice in a row, so that no message wraps
static uint64_t head, sequence;
static struct peer subscribers = {.next = &subscribers, .previous = &subscribers};
static struct peer upstream, listener;
static struct peer *dead;
static int events;
static bool each;

static void make_ring(void) {
    int memory = memfd_create("ring", 0);
    check(memory >= 0 && ftruncate(memory, RING) == 0, "memfd");
    ring = mmap(NULL, 2 * (size_t)RING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(ring != MAP_FAILED, "mmap");
    for (int half = 0; half < 2; half++)
        check(mmap(ring + (size_t)half * RING, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0) !=
                  MAP_FAILED, "mmap");
}

static void watch(struct peer *peer, uint32_t what, int operation) {
    struct epoll_event event = {.events = what, .data.ptr = peer};
    check(epoll_ctl(events, operation, peer->descriptor, &event) == 0, "epoll_ctl");
}

static void drop(struct peer *peer) {
    check(peer != &upstream, "the upstream left");
    if (peer->dead) return;
    peer->dead = true;
    if (peer->kind == EVENTS) {
        peer->next->previous = peer->previous;
        peer->previous->next = peer->next;
    }
    close(peer->descriptor);
    peer->next_dead = dead;
    dead = peer;
}

static void deliver(struct peer *peer) {
    uint64_t due = head - peer->cursor;
    if (due > REASONABLE_LAG) return drop(peer);
    ssize_t sent = send(peer->descriptor, ring + peer->cursor % RING, due, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return drop(peer);
    if (sent > 0) peer->cursor += (uint64_t)sent;
    peer->blocked = peer->cursor != head;
}

static void fan_out(void) {
    for (struct peer *peer = subscribers.next, *next; peer != &subscribers; peer = next) {
        next = peer->next;
        if (!peer->blocked && peer->cursor != head) deliver(peer);
    }
}

static void publish(const char *text, size_t count) {
    char *start = ring + head % RING, *end = start;
    char id[32];
    int id_count = snprintf(id, sizeof id, "id: 1-%llu\n", (unsigned long long)++sequence);
    end += sprintf(end, "%zx\r\n%s", (size_t)id_count + 6 + count + 2, id);
    end = mempcpy(end, "data: ", 6);
    end = mempcpy(end, text, count);
    end = mempcpy(end, "\n\n\r\n", 4);
    head += (uint64_t)(end - start);
    if (each) fan_out();
}

static size_t take_frame(const unsigned char *bytes, size_t count) {
    if (count < 2) return 0;
    size_t length = bytes[1] & 127, start = 2;
    if (length == 126) {
        if (count < 4) return 0;
        length = (size_t)bytes[2] << 8 | bytes[3];
        start = 4;
    } else if (length == 127) {
        if (count < 10) return 0;
        length = 0;
        for (int index = 2; index < 10; index++) length = length << 8 | bytes[index];
        start = 10;
    }
    if (count - start < length) return 0;
    // Long ones without subscribers are there to measure reading only.
    bool published = length < BUFFER || subscribers.next != &subscribers;
    if ((bytes[0] & 15) == 1 && published) publish((const char *)bytes + start, length);
    return start + length;
}

static void read_upstream(void) {
    enum { ROOM = 4 << 20 };
    static unsigned char *buffer;
    static size_t held;
    if (!buffer) buffer = malloc(ROOM);
    ssize_t got = recv(upstream.descriptor, buffer + held, ROOM - held, MSG_DONTWAIT);
    if (got == 0) exit(0);
    if (got < 0) return check(errno == EAGAIN, "the upstream is lost");
    held += (size_t)got;
    size_t used = 0, taken;
    while ((taken = take_frame(buffer + used, held - used)) > 0) used += taken;
    held -= used;
    if (used > 0) memmove(buffer, buffer + used, held);
}

static void answer(struct peer *peer, const char *text, size_t count) {
    if (send(peer->descriptor, text, count, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) drop(peer);
}

static void subscribe(struct peer *peer) {
    static const char fields[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                                 "Cache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n";
    answer(peer, fields, sizeof fields - 1);
    if (peer->dead) return;
    free(peer->bytes);
    peer->bytes = NULL;
    peer->kind = EVENTS;
    peer->cursor = head;
    peer->next = subscribers.next;
    peer->previous = &subscribers;
    peer->next->previous = subscribers.next = peer;
    watch(peer, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, EPOLL_CTL_MOD);
}

// Takes one whole request off the front of the buffer.
static bool serve(struct peer *peer) {
    static const char accepted[] = "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\n"
                                   "Content-Length: 34\r\n\r\n{\"id\":\"00000000\",\"state\":\"queued\"}";
    char *end = memmem(peer->bytes, peer->count, "\r\n\r\n", 4);
    if (!end) return false;
    size_t fields = (size_t)(end + 4 - peer->bytes), body = 0;
    if (memcmp(peer->bytes, "GET /events", 11) == 0) return subscribe(peer), false;
    *end = 0;
    char *length = strcasestr(peer->bytes, "\r\ncontent-length:");
    *end = '\r';
    if (length) body = strtoul(length + 17, NULL, 10);
    if (peer->count < fields + body) return false;
    forward(peer->bytes + fields, body);
    answer(peer, accepted, sizeof accepted - 1);
    if (peer->dead) return false;
    peer->count -= fields + body;
    memmove(peer->bytes, peer->bytes + fields + body, peer->count);
    return peer->count > 0;
}

static void read_peer(struct peer *peer) {
    char ignored[256];
    if (peer->kind == REQUESTS && !peer->bytes) peer->bytes = malloc(BUFFER);
    bool asks = peer->kind == REQUESTS;
    ssize_t got = recv(peer->descriptor, asks ? peer->bytes + peer->count : ignored,
                       asks ? BUFFER - peer->count : sizeof ignored, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return drop(peer);
    if (!asks || got < 0) return;
    peer->count += (size_t)got;
    while (serve(peer)) continue;
}

static void accept_peers(void) {
    int descriptor, one = 1;
    while ((descriptor = accept4(listener.descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct peer *peer = calloc(1, sizeof *peer);
        peer->descriptor = descriptor;
        watch(peer, EPOLLIN, EPOLL_CTL_ADD);
    }
}

static void begin(uint16_t upstream_port, uint16_t port) {
    struct rlimit descriptors;
    getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
    make_ring();
    events = epoll_create1(0);

    upstream.descriptor = dial(upstream_port);
    watch(&upstream, EPOLLIN, EPOLL_CTL_ADD);
    listener.descriptor = listen_on(port);
    watch(&listener, EPOLLIN, EPOLL_CTL_ADD);
}

int main(int count, char **arguments) {
    if (count < 3) return fprintf(stderr, "usage: limit UPSTREAM_PORT LISTEN_PORT [each]\n"), 64;
    each = count > 3 && strcmp(arguments[3], "each") == 0;
    begin((uint16_t)atoi(arguments[1]), (uint16_t)atoi(arguments[2]));
    for (;;) {
        struct epoll_event ready[512];
        uint64_t before = head;
        int ready_count = epoll_wait(events, ready, 512, -1);
        for (int index = 0; index < ready_count; index++) {
            struct peer *peer = ready[index].data.ptr;
            if (peer == &listener) {
                accept_peers();
            } else if (peer == &upstream) {
                read_upstream();
            } else if (!peer->dead) {
                if (ready[index].events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
                    drop(peer);
                    continue;
                }
                if (ready[index].events & EPOLLIN) read_peer(peer);
                if (!peer->dead && peer->blocked && ready[index].events & EPOLLOUT) deliver(peer);
            }
        }
        flush(upstream.descriptor);
        if (head != before) fan_out();
        while (dead) {
            struct peer *gone = dead;
            dead = gone->next_dead;
            free(gone->bytes);
            free(gone);
        }
    }
}
