#include "load.h"

uint64_t published;
static uint64_t due, window;  // the deliveries that make what was published; messages ahead
static double takers;         // the deliveries that a message makes, as a mean
static size_t size;
static bool posting, posts_go_upstream;
static struct {
    char *frames;
    size_t count, frame;  // bytes of all, and of each
} blast;

/// The messages that `codec` repeats.
static void make_blast(void) {
    size_t repeats = size < 65536 ? 256 * 1024 / size : 4;
    blast.frames = malloc((size + 16) * repeats);
    for (size_t index = 0; index < repeats; index++)
        blast.count += blast.frame = make_frame(blast.frames + blast.count, stamped(index), size);
}

void begin_publishing(enum pace pace, struct publishing how) {
    size = how.size;
    window = how.window;
    posting = how.posting;
    posts_go_upstream = pace == POSTS && how.to_upstream;
    if (pace == CODEC) make_blast();
    if (stream_count() == 0) return;
    int kinds = how.kinds > 0 ? how.kinds : 1;
    for (int kind = 0; kind < kinds; kind++) takers += (double)deliveries_of((uint64_t)kind) / kinds;
}

static bool publish(void) {
    const char *message = stamped(published + 1);
    if (!posting) upstream_send(message, size);
    else if (!post(message, size)) return false;
    published++;
    if (takers > 0) due += deliveries_of(published);
    return true;
}

static void publish_ahead(void) {
    uint64_t ahead = (uint64_t)((double)window * takers);
    for (int burst = 0; burst < 16 && due < deliveries.count + ahead; burst++)
        if (!publish()) break;
    turn(due < deliveries.count + ahead ? 0 : 10000000);
}

void drive(enum pace pace, double seconds) {
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end) switch (pace) {
        case ONE_AT_A_TIME:
            if (deliveries.count >= due) publish();
            turn(10000000);
            break;
        case FLAT_OUT:
            publish_ahead();
            break;
        case POSTS:
            while (publish()) continue;
            turn(10000000);
            break;
        case CODEC: {
            uint64_t completed = upstream_blast(blast.frames, blast.count, blast.frame);
            published += completed;
            turn(completed > 0 ? 0 : 50000);
        }
    }
    check_process();
}

void fill(uint64_t bytes) {
    uint64_t messages = published + bytes / size, limit = now_ns() + 30000000000ull;
    while (published < messages) {
        publish_ahead();
        check_process();
        if (now_ns() > limit)
            fail_at_delivery("of %llu deliveries %llu came", (unsigned long long)due, (unsigned long long)deliveries.count);
    }
    drain();
}

void drain(void) {
    uint64_t seen = 0, limit = 0;
    while (deliveries.count < due || posts.answered < posts.sent ||
           (posts_go_upstream && upstream_received() < published)) {
        uint64_t progress = deliveries.count + posts.answered + upstream_received();
        if (progress != seen) limit = now_ns() + 5000000000ull;
        if (now_ns() > limit) break;
        seen = progress;
        turn(10000000);
    }
}

void check_arrivals(enum pace pace) {
    if (pace == CODEC) return;
    drain();
    if (pace != POSTS) check_deliveries(published);
    else if (posts.answered != published || (posts_go_upstream && upstream_received() != published))
        fail_at_delivery("of %llu messages %llu were answered and %llu arrived", (unsigned long long)published,
                         (unsigned long long)posts.answered, (unsigned long long)upstream_received());
}
