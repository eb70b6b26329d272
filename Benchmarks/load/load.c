// Puts load on a server that it starts itself, and prints what that cost as one line of JSON.
//
// usage: load MODE [OPTION...] -- SERVER [ARGUMENT...]
//
//   one     one message at a time to N streams, the next once all have it: latency, CPU a delivery
//   flat    as many messages as N streams take, at most `window` ahead: CPU a delivery, deliveries a second
//   idle    N streams and no message: memory a stream, CPU
//   post    `clients` keep-alive connections that POST, each at once after its answer: latency, CPU a request
//   codec   WebSocket messages as fast as the server reads them, no stream
//
// `links` is how many connections the server opens to the upstream. Every message must reach every stream once,
// and every POST the upstream, or there is no result: then the status is 3, and 1 after any other failure.
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
    int streams, clients, links;
    uint64_t window;
    size_t size;
    double seconds, warm_up;
} options = {.events = "/events", .streams = 1, .clients = 32, .links = 1,
             .window = 64, .size = 100, .seconds = 1, .warm_up = 0.3};

static int events = -1;
static char *message;
static uint64_t published;

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
    struct epoll_event ready[256];
    struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
    int count = epoll_pwait2(events, ready, COUNT(ready), &wait, NULL);
    for (int index = 0; index < count; index++) {
        struct source *source = ready[index].data.ptr;
        source->ready(source, ready[index].events);
    }
}

int dial(uint16_t port, bool wait) {
    int one = 1, descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0);
    if (descriptor < 0) fail("socket");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(descriptor, (struct sockaddr *)&there, sizeof there) && errno != EINPROGRESS)
        fail("connect to port %d", port);
    return descriptor;
}

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

static const char *stamped(void) {
    char stamp[64];
    int count = snprintf(stamp, sizeof stamp, "%020llu %010llu ", (unsigned long long)now_ns(),
                         (unsigned long long)(published + 1));
    memcpy(message, stamp, (size_t)count);
    return message;
}

static bool publish(void) {
    if (!options.publish) upstream_send(stamped(), options.size);
    else if (!post(stamped(), options.size)) return false;
    published++;
    return true;
}

static void drive(double seconds, char *blast, size_t blast_count, size_t frame) {
    char mode = options.mode[0];
    uint64_t streams = (uint64_t)options.streams, end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end) {
        if (mode == 'o') {
            if (deliveries.count >= published * streams) publish();
            turn(10000000);
        } else if (mode == 'f') {
            uint64_t ahead = options.window * streams;
            for (int burst = 0; burst < 16 && published * streams < deliveries.count + ahead; burst++)
                if (!publish()) break;
            turn(published * streams < deliveries.count + ahead ? 0 : 10000000);
        } else if (mode == 'p') {
            while (publish()) continue;
            turn(10000000);
        } else {
            uint64_t completed = upstream_blast(blast, blast_count, frame);
            published += completed;
            turn(completed > 0 ? 0 : 50000);
        }
    }
    check_process();
}

static void print_result(double seconds, struct usage before, struct usage after, uint64_t work,
                         const struct histogram *latency) {
    double cpu = after.cpu_seconds - before.cpu_seconds;
    printf(", \"seconds\": %.3f, \"work\": %llu, \"per_second\": %.1f, \"cpu_seconds\": %.4f, \"cpu_us_each\": %.4f, "
           "\"p50_us\": %.2f, \"p99_us\": %.2f", seconds, (unsigned long long)work, (double)work / seconds, cpu,
           work ? cpu / (double)work * 1e6 : 0, quantile(latency, 0.5) / 1e3, quantile(latency, 0.99) / 1e3);
}

static void measure(void) {
    char mode = options.mode[0], *blast = NULL;
    size_t frame = 0, blast_count = 0;
    if (mode == 'c') {
        size_t repeats = options.size < 65536 ? 256 * 1024 / options.size : 4;
        blast = malloc((options.size + 16) * repeats);
        for (size_t index = 0; index < repeats; index++)
            blast_count += frame = make_frame(blast + blast_count, message, options.size);
    }
    drive(options.warm_up, blast, blast_count, frame);
    deliveries.measuring = posts.measuring = true;
    bool posting = mode == 'p';
    struct usage before = process_usage();
    uint64_t began = now_ns();
    uint64_t work = mode == 'c' ? published : posting ? posts.answered : deliveries.count;
    drive(options.seconds, blast, blast_count, frame);
    struct usage after = process_usage();
    double seconds = (double)(now_ns() - began) / 1e9;
    work = (mode == 'c' ? published : posting ? posts.answered : deliveries.count) - work;
    deliveries.measuring = posts.measuring = false;
    print_result(seconds, before, after, work, posting ? &posts.latency : &deliveries.latency);
    if (mode == 'c') return;
    // What is under way may take as long as it comes at all.
    uint64_t due = posting ? 0 : published * (uint64_t)options.streams, seen = 0, limit = 0;
    while (deliveries.count < due || posts.answered < posts.sent ||
           (posting && options.upstream && upstream_received() < published)) {
        uint64_t progress = deliveries.count + posts.answered + upstream_received();
        if (progress != seen) limit = now_ns() + 5000000000ull;
        if (now_ns() > limit) break;
        seen = progress;
        turn(10000000);
    }
    if (!posting) check_deliveries(published);
    else if (posts.answered != published || (options.upstream && upstream_received() != published))
        fail_at_delivery("of %llu messages %llu were answered and %llu arrived", (unsigned long long)published,
                         (unsigned long long)posts.answered, (unsigned long long)upstream_received());
}

static char **read_options(int count, char **arguments) {
    static const struct option names[] = {
        {"port", 1, 0, 'p'}, {"upstream", 1, 0, 'u'}, {"events", 1, 0, 'e'}, {"publish", 1, 0, 'P'},
        {"streams", 1, 0, 'n'}, {"clients", 1, 0, 'c'}, {"links", 1, 0, 'l'}, {"window", 1, 0, 'w'},
        {"size", 1, 0, 's'}, {"seconds", 1, 0, 't'}, {"warm-up", 1, 0, 'W'}, {0}};
    static const char *const modes[] = {"one", "flat", "idle", "post", "codec"};
    for (size_t index = 0; count > 1 && index < COUNT(modes); index++)
        if (strcmp(arguments[1], modes[index]) == 0) options.mode = modes[index];
    if (!options.mode) fail("usage: load one|flat|idle|post|codec [OPTION...] -- SERVER [ARGUMENT...]");
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
        default: fail("an unknown option");
    }
    if (options.size < 32) options.size = 32;
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
    message = malloc(options.size);
    memset(message, 'x', options.size);
    if (options.upstream) listen_upstream(options.upstream);
    uint64_t started = now_ns();
    start_process(command);
    double start_ms = await_server(started);
    char mode = options.mode[0];
    bool streaming = mode == 'o' || mode == 'f' || mode == 'i';
    if (!streaming) options.streams = 0;
    turns_for(0.3);
    struct usage bare = process_usage();
    if (streaming) subscribe_all(options.port, options.events, options.streams);
    turns_for(0.3);
    struct usage subscribed = process_usage();
    if (options.publish) open_posts(options.port, options.publish, mode == 'o' ? 1 : options.clients);
    printf("{\"mode\": \"%s\", \"streams\": %d, \"size\": %zu, \"start_ms\": %.1f, \"memory\": %.0f, "
           "\"memory_each\": %.0f", options.mode, options.streams, options.size, start_ms, bare.memory_bytes,
           options.streams ? (subscribed.memory_bytes - bare.memory_bytes) / options.streams : 0);
    if (mode == 'i') {
        turns_for(options.seconds);
        printf(", \"seconds\": %.3f, \"idle_cpu_seconds\": %.5f", options.seconds,
               process_usage().cpu_seconds - subscribed.cpu_seconds);
    } else {
        measure();
    }
    puts("}");
    stop_process();
}
