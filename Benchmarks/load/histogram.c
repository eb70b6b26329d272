#include "load.h"

static int bucket(uint64_t value) {
    if (value < 64) return (int)value;
    int exponent = 63 - __builtin_clzll(value);
    return (exponent - 5) * 64 + (int)(value >> (exponent - 6) & 63);
}

static uint64_t lower_edge(int bucket) {
    if (bucket < 64) return (uint64_t)bucket;
    return (uint64_t)(64 + bucket % 64) << (bucket / 64 - 1);
}

void record(struct histogram *histogram, uint64_t value) {
    histogram->buckets[bucket(value)]++;
    histogram->count++;
}

double quantile(const struct histogram *histogram, double share) {
    uint64_t wanted = (uint64_t)(share * (double)histogram->count), seen = 0;
    for (size_t index = 0; index < COUNT(histogram->buckets); index++) {
        seen += histogram->buckets[index];
        if (seen > wanted) return (double)lower_edge((int)index);
    }
    return 0;
}
