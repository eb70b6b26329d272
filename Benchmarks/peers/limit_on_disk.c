// The limit of a durable POST: group_commit.h behind bare epoll. POST in, a row that is synced, the answer, WebSocket
// out, the row's end.
//
// usage: limit_on_disk UPSTREAM_PORT LISTEN_PORT DATABASE
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "group_commit.h"
#include "outgoing.h"

enum { BUFFER = 64 << 10 };

struct peer {
    int descriptor;
    size_t count;
    char *bytes;
};

static int events;
static struct peer upstream, listener, ringer;

static void watch(struct peer *peer, uint32_t what, int operation) {
    struct epoll_event event = {.events = what, .data.ptr = peer};
    check(epoll_ctl(events, operation, peer->descriptor, &event) == 0, "epoll_ctl");
}

/// It is answered for and goes out.
static void go_on(struct entry *entry) {
    static const char accepted[] = "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\n"
                                   "Content-Length: 34\r\n\r\n{\"id\":\"00000000\",\"state\":\"queued\"}";
    struct peer *peer = entry->owner;
    check(send(peer->descriptor, accepted, sizeof accepted - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0, "send");
    forward(entry->bytes, entry->count);
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
    give(peer, peer->bytes + fields, body);
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
    ringer.descriptor = bell;
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
            else if (peer == &ringer) take_written(go_on);
            else if (peer == &upstream) exit(0);
            else read_peer(peer);
        }
        flush(upstream.descriptor);
        hand_over();
    }
}
