// The mode `beside`: the same streams with and without the disturbers, in turns that are so short that
// whatever else the machine does meets both alike.
#include "load.h"

enum { TURNS = 4, WITHOUT = 0, WITH = 1 };

/// What was measured in one state and at one pace.
struct measured {
    double seconds, cpu_seconds;
    uint64_t deliveries;
    struct histogram latency;
};

static void measure_slice(struct measured *measured, enum pace pace, double seconds) {
    drive(pace, 0.03);
    deliveries.latency = &measured->latency;
    struct usage before = process_usage();
    uint64_t began = now_ns(), count = deliveries.count;
    deliveries.measuring = true;
    drive(pace, seconds);
    deliveries.measuring = false;
    measured->seconds += (double)(now_ns() - began) / 1e9;
    measured->deliveries += deliveries.count - count;
    measured->cpu_seconds += process_usage().cpu_seconds - before.cpu_seconds;
    drain();
}

static void print_state(const struct measured *one, const struct measured *flat, const char *state) {
    const struct measured *all[] = {one, flat};
    static const char *const paces[] = {"one", "flat"};
    for (size_t index = 0; index < COUNT(all); index++) {
        const struct measured *it = all[index];
        double work = (double)it->deliveries;
        printf(", \"%s_per_second%s\": %.1f, \"%s_per_cpu_second%s\": %.1f, \"%s_p50_us%s\": %.2f, \"%s_p99_us%s\": %.2f",
               paces[index], state, work / it->seconds, paces[index], state, work / it->cpu_seconds, paces[index], state,
               quantile(&it->latency, 0.5) / 1e3, paces[index], state, quantile(&it->latency, 0.99) / 1e3);
    }
}

void measure_beside(double seconds, uint16_t port, const char *path, uint64_t fill_bytes) {
    struct measured *all = calloc(4, sizeof *all);
    for (int number = 0; number < 2 * TURNS; number++) {
        // Without, with, with, without: what changes by and by meets both alike, too.
        int state = (number + 1) / 2 % 2;
        if (state == WITH) begin_disturbing(port, path);
        fill(fill_bytes);
        // Latencies need more messages than rates do.
        measure_slice(&all[state * 2], ONE_AT_A_TIME, seconds / TURNS * 0.7);
        measure_slice(&all[state * 2 + 1], FLAT_OUT, seconds / TURNS * 0.3);
        if (state == WITH) end_disturbing();
    }
    print_state(&all[WITHOUT * 2], &all[WITHOUT * 2 + 1], "_without");
    print_state(&all[WITH * 2], &all[WITH * 2 + 1], "");
    printf(", \"disturbances\": %llu", (unsigned long long)disturbances());
    free(all);
}
