#include "load.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NARROW = 4096 };
static const uint64_t every_ns[] = {0, 1000000000, 100000000}, lives_ns = 5000000;

struct disturber {
    struct source source;
    enum { NEVER, BYTE, KILLED } behaviour;
    enum { AWAY, ASKING, STREAMING } state;
    uint64_t due;  // when it acts next
};

static struct disturber *disturbers;
static int disturber_count;
static uint64_t count;
static char request[512];
static int request_count;
static uint16_t server_port;

static void ready(struct source *source, uint32_t events) {
    struct disturber *it = (struct disturber *)source;
    if (events & (EPOLLERR | EPOLLHUP)) fail("a subscriber that behaves badly is refused");
    if (events & EPOLLOUT) {
        if (send(source->descriptor, request, (size_t)request_count, MSG_NOSIGNAL) != request_count)
            fail("a subscriber that behaves badly cannot ask");
        return watch(source, EPOLLIN, EPOLL_CTL_MOD);
    }
    // It is streaming. From here on nothing is read but by intention.
    watch(source, 0, EPOLL_CTL_DEL);
    it->state = STREAMING;
    uint64_t lives = it->behaviour == KILLED ? lives_ns : every_ns[it->behaviour];
    it->due = lives > 0 ? now_ns() + lives : UINT64_MAX;
}

static void come(struct disturber *it) {
    it->state = ASKING;
    it->due = UINT64_MAX;
    it->source = (struct source){it->behaviour == KILLED ? dial(server_port, false) : dial_narrow(server_port, NARROW),
                                 ready};
    watch(&it->source, EPOLLOUT, EPOLL_CTL_ADD);
}

static void leave(struct disturber *it, bool with_reset) {
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    if (it->state == AWAY) return;
    if (with_reset) setsockopt(it->source.descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(it->source.descriptor);
    it->state = AWAY;
}

void add_disturbers(const char *behaviour, int more) {
    static const char *const names[] = {"never", "byte", "killed"};
    size_t which = 0;
    while (which < COUNT(names) && strcmp(behaviour, names[which]) != 0) which++;
    if (which == COUNT(names)) fail("nobody behaves like that: %s", behaviour);
    disturbers = realloc(disturbers, (size_t)(disturber_count + more) * sizeof *disturbers);
    for (int index = 0; index < more; index++)
        disturbers[disturber_count++] = (struct disturber){.behaviour = which, .due = UINT64_MAX};
}

void begin_disturbing(uint16_t port, const char *path) {
    server_port = port;
    request_count = snprintf(request, sizeof request,
                             "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n\r\n", path, port);
    for (int index = 0; index < disturber_count; index++) {
        struct disturber *it = &disturbers[index];
        // Those that are killed come one after the other, so that they are not killed together.
        if (it->behaviour != KILLED) come(it);
        else it->due = now_ns() + every_ns[KILLED] / (uint64_t)disturber_count * (uint64_t)index;
    }
}

/// Who is to stall and does not disturbs nobody.
static void check_stalled(const struct disturber *it) {
    int unread = 0;
    if (it->behaviour == KILLED) return;
    if (it->state != STREAMING || ioctl(it->source.descriptor, FIONREAD, &unread) || unread < NARROW / 4)
        fail("a subscriber that does not read has only %d bytes to read", unread);
}

void end_disturbing(void) {
    for (int index = 0; index < disturber_count; index++) {
        check_stalled(&disturbers[index]);
        leave(&disturbers[index], true);
        disturbers[index].due = UINT64_MAX;
    }
}

static void act(struct disturber *it, uint64_t now) {
    char byte;
    it->due = now + every_ns[it->behaviour];
    if (it->behaviour == KILLED) {
        if (it->state == AWAY) return come(it);
        // Half of them with a reset at once, half as the kernel ends what a killed process had open.
        leave(it, count % 2 == 0);
    } else {
        ssize_t got = recv(it->source.descriptor, &byte, 1, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN)) fail("a subscriber that reads slowly was dropped");
    }
    count++;
}

void disturb(void) {
    if (disturber_count == 0) return;
    uint64_t now = now_ns();
    for (int index = 0; index < disturber_count; index++)
        if (disturbers[index].due <= now) act(&disturbers[index], now);
}

uint64_t disturbances(void) { return count; }
