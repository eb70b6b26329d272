#pragma once
#include <stdint.h>

/// A file system of SQLite's over the real one, which knows what a power cut would leave of what was written, and that
/// can be full or fail. All functions may be called by any thread.
typedef struct power_cut power_cut;

/// Registers it with SQLite under a name; NULL: there is no memory.
power_cut *power_cut_create(const char *name);

/// To be called when no connection uses it any more.
void power_cut_destroy(power_cut *cut);

/// Every so many writes and syncs `on_cut` is called with `context`, on the thread that is about to do one more;
/// 0: never.
void power_cut_every(power_cut *cut, long operations, void (*on_cut)(void *context), void *context);

/// Writes into a folder what a power cut right now could leave of the files: what was synced, and any part of the rest,
/// torn at sectors of 512 bytes. Which part follows from `seed`. Returns 0, or -1 if a file cannot be written.
int power_cut_save(power_cut *cut, const char *folder, uint64_t seed);

/// Files may grow by so many bytes together before there is no room; -1: by any.
void power_cut_room(power_cut *cut, int64_t bytes);

/// Syncs fail from now on, or work again.
void power_cut_fail_syncs(power_cut *cut, int fail);

/// From now on the bytes of databases from `from` to before `to` cannot be read; none where these are equal.
void power_cut_bad(power_cut *cut, int64_t from, int64_t to);

/// How many syncs there were.
long power_cut_syncs(power_cut *cut);
