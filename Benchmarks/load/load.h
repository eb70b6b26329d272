// What the parts of the load tool share. One thread, one epoll, everything on loopback.
#pragma once
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// load.c

/// Ends the tool, and with it the server, with a message and errno's.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// The same with the status 3: all went well but that messages were lost or doubled.
_Noreturn void fail_at_delivery(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t now_ns(void);

/// Something on the epoll; `ready` gets the events and itself.
struct source {
    int descriptor;
    void (*ready)(struct source *, uint32_t events);
};
void watch(struct source *, uint32_t events, int operation);
/// Handles what is ready, waiting at most so long for something.
void turn(int64_t wait_ns);
/// A non-blocking socket on its way to this port, or connected already if `wait`.
int dial(uint16_t port, bool wait);

// histogram.c: values with a resolution of 1/64

struct histogram {
    uint64_t buckets[64 * 64], count;
};
void record(struct histogram *, uint64_t value);
/// The value below which this share of all values lies.
double quantile(const struct histogram *, double share);

// process.c: the server under load, and its descendants

struct usage {
    double cpu_seconds;
    double memory_bytes;  // its proportional share of what is shared
};
void start_process(char **command);
void stop_process(void);
void check_process(void);
struct usage process_usage(void);

// subscribers.c: event streams

struct deliveries {
    uint64_t count, unlike;   // events that came; those that are no message of ours
    struct histogram latency;  // in ns, of those since `measuring`
    bool measuring;
};
extern struct deliveries deliveries;
void subscribe_all(uint16_t port, const char *path, int count);
/// Fails, with the status 3, unless each subscriber got each of the messages 1...`published` once.
void check_deliveries(uint64_t published);

// upstream.c: the WebSocket server that the bridge dials

void listen_upstream(uint16_t port);
/// How many connections a bridge has opened; messages go to the first.
int upstream_links(void);
void upstream_send(const char *text, size_t count);
/// Offers as many bytes of such messages as the peer takes now; returns how many messages were completed.
uint64_t upstream_blast(const char *frames, size_t count, size_t frame);
uint64_t upstream_received(void);
size_t make_frame(char *out, const char *text, size_t count);

// posts.c: keep-alive clients that POST

struct posts {
    uint64_t sent, answered;
    struct histogram latency;
    bool measuring;
};
extern struct posts posts;
void open_posts(uint16_t port, const char *path, int count);
/// Posts from a client that is idle; false if none is.
bool post(const char *text, size_t count);
