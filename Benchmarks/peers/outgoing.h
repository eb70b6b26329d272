// What every limit sends upstream, and when.
#pragma once
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "sockets.h"

static char outgoing[4 << 20];
static size_t outgoing_count;

/// Has a text go out with the next `flush`; masked, as a client has to.
static inline void forward(const char *text, size_t count) {
    static const unsigned char key[4] = {0x12, 0x34, 0x56, 0x78};
    check(outgoing_count + count + 8 < sizeof outgoing, "more than the upstream takes");
    unsigned char *out = (unsigned char *)outgoing + outgoing_count, *start = out;
    *out++ = 0x81;
    if (count < 126) {
        *out++ = (unsigned char)(0x80 | count);
    } else {
        *out++ = 0x80 | 126;
        *out++ = (unsigned char)(count >> 8);
        *out++ = (unsigned char)count;
    }
    out = mempcpy(out, key, sizeof key);
    for (size_t index = 0; index < count; index++) *out++ = (unsigned char)text[index] ^ key[index % 4];
    outgoing_count += (size_t)(out - start);
}

/// Writes what waits, as far as the upstream takes it.
static inline void flush(int upstream) {
    if (outgoing_count == 0) return;
    ssize_t sent = send(upstream, outgoing, outgoing_count, MSG_NOSIGNAL | MSG_DONTWAIT);
    check(sent >= 0 || errno == EAGAIN, "the upstream does not take bytes");
    if (sent <= 0) return;
    memmove(outgoing, outgoing + sent, outgoing_count - (size_t)sent);
    outgoing_count -= (size_t)sent;
}
