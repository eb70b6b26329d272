#include "load.h"

enum { STAMP = 31 };  // 20 digits of nanoseconds, a space, 10 digits of the number

static char *message;
static size_t stamp_at, kind_at;  // `kind_at` is 0 where messages have no kind
static int kind_count;

void make_message(size_t size, int kinds) {
    char start[128];
    size_t least;
    kind_count = kinds;
    if (kinds > 0) {
        least = (size_t)snprintf(start, sizeof start, "{\"sent\":\"%*s\",\"kind\":\"0000\",\"any\":\"yes\",\"rest\":\"",
                                 STAMP, "");
        stamp_at = strlen("{\"sent\":\"");
        kind_at = stamp_at + STAMP + strlen("\",\"kind\":\"");
    } else {
        least = (size_t)snprintf(start, sizeof start, "%*s ", STAMP, "");
    }
    if (size < least + 2) fail("a message of at least %zu bytes is needed", least + 2);
    message = malloc(size);
    memset(message, 'x', size);
    memcpy(message, start, least);
    if (kinds > 0) memcpy(message + size - 2, "\"}", 2);
}

const char *stamped(uint64_t number) {
    char stamp[64];
    snprintf(stamp, sizeof stamp, "%020llu %010llu", (unsigned long long)now_ns(), (unsigned long long)number);
    memcpy(message + stamp_at, stamp, STAMP);
    if (kind_at > 0) {
        snprintf(stamp, sizeof stamp, "%04llu", (unsigned long long)(number % (uint64_t)kind_count));
        memcpy(message + kind_at, stamp, 4);
    }
    return message;
}

bool read_stamp(const char *at, const char *end, uint64_t *sent_ns, uint64_t *number) {
    uint64_t first = 0, second = 0;
    while (at < end && (*at < '0' || *at > '9')) at++;
    for (; at < end && *at >= '0' && *at <= '9'; at++) first = first * 10 + (uint64_t)(*at - '0');
    if (at < end) at++;
    for (; at < end && *at >= '0' && *at <= '9'; at++) second = second * 10 + (uint64_t)(*at - '0');
    *sent_ns = first;
    *number = second;
    return first > 0 && second > 0;
}
