#pragma once
#include <uv.h>
/* Not part of Swift's Glibc: tells the loop that the machine's clock was set, as it is after sleep. */
#include <sys/timerfd.h>
/* Nor this: a descriptor that threads ring. */
#include <sys/eventfd.h>

/* Not part of Swift's Glibc either. A kernel before 5.11 refuses it. */
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Has programs that are started not inherit this descriptor, nor any with a higher number.
static inline void wsbridge_keep_from_programs(unsigned int first) {
  syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC);
}

/* What glibc declares for sockets as enumerations, Swift finds only in the C module that it happened to read first.
   These are always here. */
static const int WSB_SOCK_STREAM = SOCK_STREAM;
static const int WSB_SOCK_DGRAM = SOCK_DGRAM;
static const int WSB_SOCK_CLOEXEC = SOCK_CLOEXEC;
static const int WSB_SOCK_NONBLOCK = SOCK_NONBLOCK;
static const int WSB_EFD_CLOEXEC = EFD_CLOEXEC;
static const int WSB_EFD_NONBLOCK = EFD_NONBLOCK;
static const int WSB_MSG_DONTWAIT = MSG_DONTWAIT;
static const int WSB_MSG_NOSIGNAL = MSG_NOSIGNAL;
static const int WSB_MSG_PEEK = MSG_PEEK;
static const int WSB_SHUT_WR = SHUT_WR;
static const int WSB_SHUT_RDWR = SHUT_RDWR;

/* Variadic, which Swift cannot call: has the loop count for how long it waits. */
static inline void wsbridge_measure_idle_time(uv_loop_t *loop) {
  (void)uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
}
