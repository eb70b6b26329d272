#include "load.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 4096 };

struct client {
    struct source source;
    bool busy;
    uint64_t sent_at;
    size_t count;
    char answer[ROOM];
};

struct posts posts;
static struct client *clients, **idle;
static int client_count, idle_count;
static char *request;
static size_t head_count, request_room;
static uint16_t server_port;
static const char *server_path;

/// The length of a whole answer at the front of the buffer, or 0.
static size_t answer_length(struct client *it) {
    it->answer[it->count] = 0;
    char *end = strstr(it->answer, "\r\n\r\n");
    if (!end) return 0;
    size_t head = (size_t)(end + 4 - it->answer);
    if (strncmp(it->answer, "HTTP/1.1 2", 10) != 0) fail("a POST was refused: %s", it->answer);
    char *length = strcasestr(it->answer, "\r\ncontent-length:");
    if (length && length < end) {
        size_t body = strtoul(length + 17, NULL, 10);
        return it->count >= head + body ? head + body : 0;
    }
    if (!strcasestr(it->answer, "\r\ntransfer-encoding: chunked")) fail("an answer without length: %s", it->answer);
    return it->count >= 5 && memcmp(it->answer + it->count - 5, "0\r\n\r\n", 5) == 0 ? it->count : 0;
}

static void ready(struct source *source, uint32_t events) {
    (void)events;
    struct client *it = (struct client *)source;
    ssize_t got = recv(source->descriptor, it->answer + it->count, ROOM - 1 - it->count, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("a keep-alive connection was closed");
    it->count += (size_t)got;
    size_t length = answer_length(it);
    if (length == 0) return;
    if (!it->busy || length != it->count) fail("an answer to nothing");
    it->count = 0;
    it->busy = false;
    posts.answered++;
    if (posts.measuring) record(&posts.latency, now_ns() - it->sent_at);
    idle[idle_count++] = it;
}

void open_posts(uint16_t port, const char *path, int count) {
    server_port = port;
    server_path = path;
    client_count = count;
    clients = calloc((size_t)count, sizeof *clients);
    idle = calloc((size_t)count, sizeof *idle);
    for (int index = 0; index < count; index++) {
        clients[index].source = (struct source){dial(port, true), ready};
        watch(&clients[index].source, EPOLLIN, EPOLL_CTL_ADD);
        idle[idle_count++] = &clients[index];
    }
}

bool post(const char *text, size_t count) {
    if (idle_count == 0) return false;
    if (request_room < count + 1024) {
        request = realloc(request, request_room = count + 1024);
        head_count = (size_t)snprintf(request, request_room,
                                      "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: text/plain\r\n"
                                      "Content-Length: %zu\r\n\r\n", server_path, server_port, count);
    }
    struct client *it = idle[--idle_count];
    memcpy(request + head_count, text, count);
    it->busy = true;
    it->sent_at = now_ns();
    posts.sent++;
    ssize_t sent = send(it->source.descriptor, request, head_count + count, MSG_NOSIGNAL);
    if (sent != (ssize_t)(head_count + count)) fail("a request does not go out");
    return true;
}
