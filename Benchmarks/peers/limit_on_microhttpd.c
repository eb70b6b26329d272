// The limit of POST on libmicrohttpd: what limit.c does with a POST, with the answers that the bridge gives, through
// the library as the bridge drives it. No checks, no outbox. A ratio to it says what the bridge itself adds. With a
// database each answer waits for group_commit.h, its connection suspended meanwhile: the limit of a durable POST there.
//
// usage: limit_on_microhttpd UPSTREAM_PORT LISTEN_PORT [DATABASE]
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "group_commit.h"
#include "outgoing.h"
#include "sockets.h"

enum { BODY = 4096, CONNECTION_MEMORY = 32 << 10 };

struct request {
    struct MHD_Connection *connection;
    bool has_head;
    uint64_t number;  // of its message, once that is accepted; 0: it is not
    size_t count;
    char body[BODY];
};

static int upstream = -1;

static void *begin_request(void *context, const char *target, struct MHD_Connection *connection) {
    (void)context, (void)target;
    struct request *it = malloc(sizeof *it);
    check(it != NULL, "memory");
    it->connection = connection;
    it->has_head = false;
    it->number = 0;
    it->count = 0;
    return it;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code) {
    (void)context, (void)connection, (void)code;
    free(*request);
    *request = NULL;
}

static enum MHD_Result take_field(void *count, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                  const char *value, size_t value_length) {
    (void)kind, (void)name, (void)value;
    *(size_t *)count += name_length + value_length;
    return MHD_YES;
}

static enum MHD_Result answer(struct MHD_Connection *connection, uint64_t number) {
    char body[96];
    int count = snprintf(body, sizeof body, "{\"id\":\"abcdefghijkl-m1.%llu\",\"state\":\"queued\"}\n",
                         (unsigned long long)number);
    struct MHD_Response *response = MHD_create_response_from_buffer((size_t)count, body, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Content-Type", "application/json");
    MHD_add_response_header(response, "Vary", "Origin");
    enum MHD_Result result = MHD_queue_response(connection, 202, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request) {
    (void)context, (void)path, (void)method, (void)version;
    struct request *it = *request;
    if (!it->has_head) {
        size_t bytes = 0;
        MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_field, &bytes);
        it->has_head = true;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        check(it->count + *upload_size <= BODY, "a body that is too long");
        memcpy(it->body + it->count, upload, *upload_size);
        it->count += *upload_size;
        *upload_size = 0;
        return MHD_YES;
    }
    if (it->number > 0) return answer(connection, it->number);
    if (bell < 0) {
        static uint64_t last_number;
        forward(it->body, it->count);
        return answer(connection, ++last_number);
    }
    give(it, it->body, it->count);
    MHD_suspend_connection(connection);
    return MHD_YES;
}

/// It goes out, and its request is asked for its answer when the daemon runs.
static void go_on(struct entry *entry) {
    struct request *it = entry->owner;
    it->number = entry->number;
    forward(entry->bytes, entry->count);
    MHD_resume_connection(it->connection);
}

static struct MHD_Daemon *serve(uint16_t port) {
    struct sockaddr_in here = loopback(port);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, handle, NULL, MHD_OPTION_SOCK_ADDR, &here,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, begin_request,
        NULL, MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_END);
    check(daemon != NULL, "the daemon");
    return daemon;
}

static void watch(int events, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    check(epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll_ctl");
}

int main(int count, char **arguments) {
    if (count < 3) return fprintf(stderr, "usage: limit_on_microhttpd UPSTREAM_PORT LISTEN_PORT [DATABASE]\n"), 64;
    int events = epoll_create1(0);
    if (count > 3) {
        open_database(arguments[3]);
        watch(events, bell);
    }
    upstream = dial((uint16_t)atoi(arguments[1]));
    watch(events, upstream);
    struct MHD_Daemon *daemon = serve((uint16_t)atoi(arguments[2]));
    watch(events, MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    for (;;) {
        MHD_UNSIGNED_LONG_LONG milliseconds;
        int wait = MHD_get_timeout(daemon, &milliseconds) == MHD_YES ? (int)(milliseconds < 1000 ? milliseconds : 1000) : -1;
        struct epoll_event ready[3];
        int ready_count = epoll_wait(events, ready, 3, wait);
        for (int index = 0; index < ready_count; index++) {
            char ignored[4096];
            if (ready[index].data.fd == bell) take_written(go_on);
            if (ready[index].data.fd == upstream && recv(upstream, ignored, sizeof ignored, MSG_DONTWAIT) == 0) return 0;
        }
        MHD_run(daemon);
        flush(upstream);
        hand_over();
    }
}
