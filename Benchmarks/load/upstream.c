#include "load.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 20, ROOM = 16 << 10 };

/// A connection that a bridge opened.
struct link {
    struct source source;
    bool open;
    size_t count, room;
    unsigned char *input;  // of a frame or handshake that is not complete
};

static struct source listener = {-1, NULL};
static struct link *bridge;  // the one that messages go to: of several the one that asked for `/`
static int links, open_links;
static size_t blast_offset;
static uint64_t received;

static void send_all(struct link *link, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(link->source.descriptor, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            // The bridge reads slower than messages come; meanwhile streams are read, or both would wait for ever.
            turn(1000000);
            continue;
        }
        if (sent < 0) fail("the bridge left");
        bytes += sent;
        count -= (size_t)sent;
    }
}

static void shake_hands(struct link *link, char *end) {
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char *key = strcasestr((char *)link->input, "\r\nsec-websocket-key:"), text[128], answer[256];
    if (!key || key > end) fail("not a handshake");
    bool is_first = strncmp((char *)link->input, "GET / ", 6) == 0;
    key += 20;
    while (*key == ' ') key++;
    int text_count = snprintf(text, sizeof text, "%.24s%s", key, guid);
    unsigned char digest[SHA_DIGEST_LENGTH], accept[32];
    SHA1((unsigned char *)text, (size_t)text_count, digest);
    EVP_EncodeBlock(accept, digest, sizeof digest);
    int count = snprintf(answer, sizeof answer,
                         "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         "Sec-WebSocket-Accept: %s\r\n\r\n", accept);
    size_t used = (size_t)(end + 4 - (char *)link->input);
    link->count -= used;
    memmove(link->input, link->input + used, link->count);
    link->open = true;
    open_links++;
    if (is_first) bridge = link;
    send_all(link, answer, (size_t)count);
}

/// Clients mask; what a message says is of no interest here, what a ping says is its answer.
static size_t take_frame(struct link *link, unsigned char *bytes, size_t count) {
    if (count < 6) return 0;
    size_t length = bytes[1] & 127, start = 6;
    if (length == 127) fail("a frame that is too long");
    if (length == 126) {
        if (count < 8) return 0;
        length = (size_t)bytes[2] << 8 | bytes[3];
        start = 8;
    }
    if (count < start + length) return 0;
    int opcode = bytes[0] & 15;
    if (opcode <= 2) received++;
    if (opcode == 9) {
        char pong[127] = {(char)0x8a, (char)length};
        for (size_t index = 0; index < length; index++)
            pong[2 + index] = (char)(bytes[start + index] ^ bytes[start - 4 + index % 4]);
        // A bridge that reads nothing now will ask again.
        if (send(link->source.descriptor, pong, 2 + length, MSG_NOSIGNAL) < 0 && errno != EAGAIN) fail("no pong");
    }
    return start + length;
}

static void ready(struct source *source, uint32_t events) {
    (void)events;
    struct link *link = (struct link *)source;
    ssize_t got = recv(source->descriptor, link->input + link->count, link->room - 1 - link->count, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("the bridge left its upstream");
    link->count += (size_t)got;
    if (!link->open) {
        link->input[link->count] = 0;
        char *end = strstr((char *)link->input, "\r\n\r\n");
        if (!end) return;
        shake_hands(link, end);
    }
    size_t used = 0, taken;
    while ((taken = take_frame(link, link->input + used, link->count - used)) > 0) used += taken;
    link->count -= used;
    memmove(link->input, link->input + used, link->count);
}

static void accept_link(struct source *source, uint32_t events) {
    (void)events;
    int one = 1, descriptor = accept4(source->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct link *link = calloc(1, sizeof *link);
    link->source = (struct source){descriptor, ready};
    link->room = links++ == 0 ? FIRST_ROOM : ROOM;
    link->input = malloc(link->room);
    watch(&link->source, EPOLLIN, EPOLL_CTL_ADD);
}

void listen_upstream(uint16_t port) {
    int one = 1;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = (struct source){socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), accept_link};
    setsockopt(listener.descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener.descriptor, (struct sockaddr *)&here, sizeof here) || listen(listener.descriptor, 512))
        fail("the upstream cannot listen on port %d", port);
    watch(&listener, EPOLLIN, EPOLL_CTL_ADD);
}

int upstream_links(void) { return open_links; }

uint64_t upstream_received(void) { return received; }

size_t make_frame(char *out, const char *text, size_t count) {
    char *start = out;
    *out++ = (char)0x81;
    if (count < 126) {
        *out++ = (char)count;
    } else if (count < 65536) {
        *out++ = 126;
        *out++ = (char)(count >> 8);
        *out++ = (char)count;
    } else {
        *out++ = 127;
        for (int shift = 56; shift >= 0; shift -= 8) *out++ = (char)((uint64_t)count >> shift);
    }
    memcpy(out, text, count);
    return (size_t)(out - start) + count;
}

void upstream_send(const char *text, size_t count) {
    static char *frame;
    static size_t room;
    if (room < count + 16) frame = realloc(frame, room = count + 16);
    send_all(bridge, frame, make_frame(frame, text, count));
}

uint64_t upstream_blast(const char *frames, size_t count, size_t frame) {
    ssize_t sent = send(bridge->source.descriptor, frames + blast_offset, count - blast_offset, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return 0;
    if (sent < 0) fail("the bridge left");
    uint64_t before = blast_offset / frame;
    blast_offset += (size_t)sent;
    uint64_t completed = blast_offset / frame - before;
    if (blast_offset == count) blast_offset = 0;
    return completed;
}
