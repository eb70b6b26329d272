// What every limit does the same way: meeting its upstream, and listening.
#pragma once
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static inline void check(bool holds, const char *what) {
    if (holds) return;
    perror(what);
    exit(1);
}

static inline struct sockaddr_in loopback(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A WebSocket whose handshake is over.
static inline int dial(uint16_t port) {
    int one = 1;
    struct sockaddr_in there = loopback(port);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(descriptor, (struct sockaddr *)&there, sizeof there) == 0, "connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    static const char handshake[] =
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    check(send(descriptor, handshake, sizeof handshake - 1, 0) > 0, "send");
    uint32_t last = 0;
    for (unsigned char byte; last != 0x0d0a0d0a; last = last << 8 | byte)
        check(recv(descriptor, &byte, 1, 0) == 1, "handshake");
    return descriptor;
}

/// A socket that listens and does not block.
static inline int listen_on(uint16_t port) {
    int one = 1;
    struct sockaddr_in here = loopback(port);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    check(bind(descriptor, (struct sockaddr *)&here, sizeof here) == 0, "bind");
    check(listen(descriptor, 4096) == 0, "listen");
    return descriptor;
}
