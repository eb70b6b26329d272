// Puts load on a server that it starts itself, and prints what that cost as one line of JSON.
//
// usage: load MODE [OPTION...] -- SERVER [ARGUMENT...]
//
//   one     one message at a time to N streams, the next once all have it: latency, CPU a delivery
//   flat    as many messages as N streams take, at most `window` ahead: CPU a delivery, deliveries a second
//   idle    N streams and no message: memory a stream, CPU
//   post    `clients` keep-alive connections that POST, each at once after its answer: latency, CPU a request
//   beside  N streams with and without `disturb`, in turns, at the paces of `one` and of `flat`
//   codec   WebSocket messages as fast as the server reads them, no stream
//
// `links` is how many connections the server opens to the upstream; messages go through the one that asked for `/`.
// Every message must reach every stream that shows it once, and every POST the upstream, or there is no result: then
// the status is 3, and 1 after any other failure.
//
// With `kinds`, messages are JSON whose `/kind` is their number modulo `kinds`, in four digits. `shape` COUNT:KIND:PATH,
// instead of `streams`, is how many streams of a path there are, and which kind they show: one, `all` or `none`.
//
// `disturb` BEHAVIOUR:COUNT adds, in the mode `beside`, subscribers that read `never`, or a `byte` a second, or are
// `killed` ten times a second. Nothing of theirs is counted. `fill` is how many bytes each stream gets before each
// turn, as fast as they are taken, so that who does not read them is stalled.
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *mode, *events, *publish;  // paths; without `publish` messages come from the upstream
    uint16_t port, upstream;               // 0: none
    int streams, clients, links, kinds;
    uint64_t window, fill;
    size_t size;
    double seconds, warm_up;
} options = {.events = "/events", .streams = 1, .clients = 32, .links = 1,
             .window = 64, .size = 100, .seconds = 1, .warm_up = 0.3};

static int events = -1;

void fail(const char *format, ...) {
    int code = errno;
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (%s)\n", strerror(code));
    stop_process();
    exit(1);
}

void fail_at_delivery(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    stop_process();
    exit(3);
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void watch(struct source *source, uint32_t what, int operation) {
    struct epoll_event event = {.events = what, .data.ptr = source};
    if (epoll_ctl(events, operation, source->descriptor, &event)) fail("epoll_ctl");
}

void turn(int64_t wait_ns) {
    disturb();
    struct epoll_event ready[256];
    struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
    int count = epoll_pwait2(events, ready, COUNT(ready), &wait, NULL);
    for (int index = 0; index < count; index++) {
        struct source *source = ready[index].data.ptr;
        source->ready(source, ready[index].events);
    }
}

static int dial_with(uint16_t port, bool wait, int receive_bytes) {
    int one = 1, descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0);
    if (descriptor < 0) fail("socket");
    if (receive_bytes > 0) setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(descriptor, (struct sockaddr *)&there, sizeof there) && errno != EINPROGRESS)
        fail("connect to port %d", port);
    return descriptor;
}

int dial(uint16_t port, bool wait) { return dial_with(port, wait, 0); }

int dial_narrow(uint16_t port, int receive_bytes) { return dial_with(port, false, receive_bytes); }

static void turns_for(double seconds) {
    for (uint64_t end = now_ns() + (uint64_t)(seconds * 1e9), now; (now = now_ns()) < end;)
        turn((int64_t)(end - now));
    check_process();
}

/// Returns the milliseconds from the start of the program to when its port took a connection.
static double await_server(uint64_t started) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(options.port)};
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    double milliseconds = 0;
    while (options.port && milliseconds == 0) {
        int attempt = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(attempt, (struct sockaddr *)&there, sizeof there) == 0)
            milliseconds = (double)(now_ns() - started) / 1e6;
        close(attempt);
        turn(500000);
        check_process();
        if (now_ns() - started > 20000000000ull) fail("the server does not listen on port %d", options.port);
    }
    while (options.upstream && upstream_links() < options.links) {
        turn(1000000);
        check_process();
        if (now_ns() - started > 20000000000ull) fail("the server does not dial its upstream");
    }
    return milliseconds;
}

static void print_result(double seconds, struct usage before, struct usage after, uint64_t work, uint64_t messages,
                         const struct histogram *latency) {
    double cpu = after.cpu_seconds - before.cpu_seconds;
    printf(", \"seconds\": %.3f, \"work\": %llu, \"per_second\": %.1f, \"cpu_seconds\": %.4f, \"cpu_us_each\": %.4f, "
           "\"messages\": %llu, \"cpu_us_message\": %.4f, \"p50_us\": %.2f, \"p99_us\": %.2f",
           seconds, (unsigned long long)work, (double)work / seconds, cpu, work ? cpu / (double)work * 1e6 : 0,
           (unsigned long long)messages, messages ? cpu / (double)messages * 1e6 : 0, quantile(latency, 0.5) / 1e3, quantile(latency, 0.99) / 1e3);
}

static void measure(void) {
    enum pace pace = (enum pace)options.mode[0];
    static struct histogram latency;
    deliveries.latency = &latency;
    drive(pace, options.warm_up);
    deliveries.measuring = posts.measuring = true;
    struct usage before = process_usage();
    uint64_t began = now_ns(), messages = published, count = posts.answered + deliveries.count;
    drive(pace, options.seconds);
    struct usage after = process_usage();
    double seconds = (double)(now_ns() - began) / 1e9;
    messages = published - messages;
    count = pace == CODEC ? messages : posts.answered + deliveries.count - count;
    deliveries.measuring = posts.measuring = false;
    print_result(seconds, before, after, count, messages, pace == POSTS ? &posts.latency : &latency);
}

/// `COUNT:KIND:PATH`
static void read_shape(char *text) {
    char *kind = strchr(text, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
    if (!path) fail("not a shape: %s", text);
    kind++;
    add_streams(atoi(text), strncmp(kind, "all:", 4) == 0 ? EVERY_KIND : strncmp(kind, "none:", 5) == 0 ? NO_KIND : atoi(kind),
                path + 1);
}

/// `BEHAVIOUR:COUNT`
static void read_disturbers(char *text) {
    char *count = strchr(text, ':');
    if (!count) fail("not a behaviour and a number: %s", text);
    *count = 0;
    add_disturbers(text, atoi(count + 1));
}

static char **read_options(int count, char **arguments) {
    static const struct option names[] = {
        {"port", 1, 0, 'p'}, {"upstream", 1, 0, 'u'}, {"events", 1, 0, 'e'}, {"publish", 1, 0, 'P'},
        {"streams", 1, 0, 'n'}, {"clients", 1, 0, 'c'}, {"links", 1, 0, 'l'}, {"window", 1, 0, 'w'},
        {"size", 1, 0, 's'}, {"seconds", 1, 0, 't'}, {"warm-up", 1, 0, 'W'},
        {"kinds", 1, 0, 'k'}, {"shape", 1, 0, 'S'}, {"disturb", 1, 0, 'd'}, {"fill", 1, 0, 'f'}, {0}};
    static const char *const modes[] = {"one", "flat", "beside", "idle", "post", "codec"};
    for (size_t index = 0; count > 1 && index < COUNT(modes); index++)
        if (strcmp(arguments[1], modes[index]) == 0) options.mode = modes[index];
    if (!options.mode) fail("usage: load one|flat|beside|idle|post|codec [OPTION...] -- SERVER [ARGUMENT...]");
    optind = 2;
    for (int name; (name = getopt_long(count, arguments, "", names, NULL)) != -1;) switch (name) {
        case 'p': options.port = (uint16_t)atoi(optarg); break;
        case 'u': options.upstream = (uint16_t)atoi(optarg); break;
        case 'e': options.events = optarg; break;
        case 'P': options.publish = optarg; break;
        case 'n': options.streams = atoi(optarg); break;
        case 'c': options.clients = atoi(optarg); break;
        case 'l': options.links = atoi(optarg); break;
        case 'w': options.window = (uint64_t)atoi(optarg); break;
        case 's': options.size = (size_t)atol(optarg); break;
        case 't': options.seconds = atof(optarg); break;
        case 'W': options.warm_up = atof(optarg); break;
        case 'k': options.kinds = atoi(optarg); break;
        case 'S': read_shape(optarg); break;
        case 'd': read_disturbers(optarg); break;
        case 'f': options.fill = (uint64_t)atol(optarg); break;
        default: fail("an unknown option");
    }
    if (optind >= count) fail("no server is named");
    return arguments + optind;
}

int main(int count, char **arguments) {
    char **command = read_options(count, arguments);
    struct rlimit descriptors;
    getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
    events = epoll_create1(EPOLL_CLOEXEC);
    make_message(options.size, options.kinds);
    if (options.upstream) listen_upstream(options.upstream);
    uint64_t started = now_ns();
    start_process(command);
    double start_ms = await_server(started);
    char mode = options.mode[0];
    bool streaming = mode == 'o' || mode == 'f' || mode == 'b' || mode == 'i';
    if (streaming && stream_count() == 0) add_streams(options.streams, EVERY_KIND, options.events);
    // What memory a stream takes shows once all is calm.
    double settling = mode == 'i' ? 0.3 : 0.1;
    turns_for(settling);
    struct usage bare = process_usage();
    if (streaming) subscribe_all(options.port, options.kinds);
    begin_publishing((enum pace)mode, (struct publishing){options.size, options.window, options.kinds,
                                                          options.publish != NULL, options.upstream != 0});
    turns_for(settling);
    struct usage subscribed = process_usage();
    if (options.publish) open_posts(options.port, options.publish, mode == 'o' ? 1 : options.clients);
    printf("{\"mode\": \"%s\", \"streams\": %d, \"size\": %zu, \"start_ms\": %.1f, \"memory\": %.0f, "
           "\"memory_each\": %.0f", options.mode, stream_count(), options.size, start_ms, bare.memory_bytes,
           stream_count() ? (subscribed.memory_bytes - bare.memory_bytes) / stream_count() : 0);
    if (mode == 'i') {
        turns_for(options.seconds);
        printf(", \"seconds\": %.3f, \"idle_cpu_seconds\": %.5f", options.seconds,
               process_usage().cpu_seconds - subscribed.cpu_seconds);
    } else {
        if (mode == 'b') measure_beside(options.seconds, options.port, options.events, options.fill);
        else measure();
        check_arrivals((enum pace)mode);
    }
    puts("}");
    stop_process();
}
