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
/// The same, which offers room for so many bytes only.
int dial_narrow(uint16_t port, int receive_bytes);

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
/// Closes all that is open to the server, too, so that it has nothing to wait for.
void stop_process(void);
void check_process(void);
struct usage process_usage(void);

// message.c: what is published

/// Messages of so many bytes; with `kinds` they are JSON whose `/kind` is their number modulo `kinds`, as text.
void make_message(size_t size, int kinds);
/// The message of this number, sent now.
const char *stamped(uint64_t number);
/// Reads when a message was sent, and its number; false if the line is no message of ours.
bool read_stamp(const char *text, const char *end, uint64_t *sent_ns, uint64_t *number);

// subscribers.c: event streams

enum { EVERY_KIND = -1, NO_KIND = -2 };

struct deliveries {
    uint64_t count, unlike;   // events that came; those that are no message of ours
    struct histogram *latency;  // in ns, of those since `measuring`
    bool measuring;
};
extern struct deliveries deliveries;
/// Adds streams of one path, which show messages of one kind.
void add_streams(int count, int kind, const char *path);
/// Opens them all.
void subscribe_all(uint16_t port, int kinds);
int stream_count(void);
/// How many streams show the message of this number.
uint64_t deliveries_of(uint64_t number);
/// Fails, with the status 3, unless each subscriber got each of its messages once.
void check_deliveries(uint64_t published);

// disturbers.c: subscribers that behave badly

/// Adds subscribers that read `never`, or one `byte` a second, or are `killed` ten times a second.
void add_disturbers(const char *behaviour, int count);
void begin_disturbing(uint16_t port, const char *path);
void end_disturbing(void);
/// Does what is due; called in each turn.
void disturb(void);
/// How often one was killed, or read its byte.
uint64_t disturbances(void);

// upstream.c: the WebSocket server that the bridge dials

void listen_upstream(uint16_t port);
/// How many connections a bridge has opened; messages go to the one that asked for `/`.
int upstream_links(void);
void upstream_send(const char *text, size_t count);
/// Offers as many bytes of such messages as the peer takes now; returns how many messages were completed.
uint64_t upstream_blast(const char *frames, size_t count, size_t frame);
uint64_t upstream_received(void);
size_t make_frame(char *out, const char *text, size_t count);

// pace.c: how fast messages are published

enum pace { ONE_AT_A_TIME = 'o', FLAT_OUT = 'f', POSTS = 'p', CODEC = 'c' };
struct publishing {
    size_t size;
    uint64_t window;  // how many messages may be ahead of the streams
    int kinds;
    bool posting, to_upstream;  // by POST instead of from the upstream; what is posted arrives there
};
extern uint64_t published;
/// Called when all streams are open.
void begin_publishing(enum pace, struct publishing);
/// Publishes at this pace for so long.
void drive(enum pace, double seconds);
/// Publishes what stalls those that do not read, so many bytes a stream.
void fill(uint64_t bytes);
/// Waits for what is under way, as long as it comes at all.
void drain(void);
/// Fails, with the status 3, unless everything arrived once.
void check_arrivals(enum pace);

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

// beside.c: with and without the disturbers

/// Measures the streams with and without the disturbers, in turns, and prints both.
void measure_beside(double seconds, uint16_t port, const char *path, uint64_t fill_bytes);
