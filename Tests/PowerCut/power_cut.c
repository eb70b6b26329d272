#include "power_cut.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { sector = 512 };

/// A write that was not synced, or with `data` NULL a truncation to `offset`.
typedef struct change {
  struct change *next;
  int64_t offset;
  int64_t size;
  unsigned char data[];
} change;

/// What is known of a file, whether it is open or not.
typedef struct image {
  struct image *next;
  char *path;
  unsigned char *synced;
  int64_t synced_size;
  int64_t size;
  int is_there;         // and not deleted
  int is_there_for_sure; // whatever happens
  change *first, *last;
} image;

struct power_cut {
  sqlite3_vfs vfs;
  sqlite3_vfs *real;
  pthread_mutex_t mutex;
  image *images;
  long countdown, every;
  void (*on_cut)(void *);
  void *context;
  int64_t room;
  int fail_syncs;
  int64_t bad_from, bad_to;
  long syncs;
};

typedef struct file {
  sqlite3_file base;
  power_cut *cut;
  image *image; // NULL: it does not outlive the process anyway
  sqlite3_file real[];
} file;

// MARK: Images

static void forget(image *image) {
  for (change *change = image->first; change;) {
    struct change *next = change->next;
    free(change);
    change = next;
  }
  image->first = image->last = NULL;
}

static void apply(unsigned char **bytes, int64_t *size, int64_t offset, const unsigned char *data, int64_t count) {
  if (offset + count > *size) {
    *bytes = realloc(*bytes, (size_t)(offset + count));
    memset(*bytes + *size, 0, (size_t)(offset + count - *size));
    *size = offset + count;
  }
  memcpy(*bytes + offset, data, (size_t)count);
}

static void keep(image *image, int64_t offset, const void *data, int64_t size) {
  change *added = malloc(sizeof(change) + (size_t)(data ? size : 0));
  added->next = NULL;
  added->offset = offset;
  added->size = data ? size : -1;
  if (data) memcpy(added->data, data, (size_t)size);
  if (image->last) image->last->next = added;
  else image->first = added;
  image->last = added;
  int64_t end = offset + (data ? size : 0);
  if (!data || end > image->size) image->size = end;
}

static void settle(image *image) {
  for (change *change = image->first; change; change = change->next) {
    if (change->size >= 0) apply(&image->synced, &image->synced_size, change->offset, change->data, change->size);
    else if (change->offset < image->synced_size) image->synced_size = change->offset;
  }
  forget(image);
  image->is_there_for_sure = 1;
}

/// Files that were deleted do not come back any more.
static void settle_folder(power_cut *cut) {
  for (image *image = cut->images; image; image = image->next) {
    if (image->is_there) continue;
    forget(image);
    image->synced_size = 0;
  }
}

static image *find(power_cut *cut, const char *path) {
  for (image *image = cut->images; image; image = image->next)
    if (!strcmp(image->path, path)) return image;
  return NULL;
}

/// What is there before it is looked at for the first time counts as synced.
static image *open_image(power_cut *cut, const char *path) {
  image *found = find(cut, path);
  if (!found) {
    found = calloc(1, sizeof *found);
    found->path = strdup(path);
    found->next = cut->images;
    cut->images = found;
  }
  if (found->is_there) return found;
  forget(found);
  found->synced_size = found->size = 0;
  found->is_there_for_sure = 0;
  found->is_there = 1;
  FILE *real = fopen(path, "rb");
  if (!real) return found;
  unsigned char buffer[4096];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, real)) > 0)
    apply(&found->synced, &found->synced_size, found->synced_size, buffer, (int64_t)count);
  fclose(real);
  found->size = found->synced_size;
  found->is_there_for_sure = found->synced_size > 0;
  return found;
}

// MARK: Cutting

static uint64_t draw(uint64_t *seed) {
  uint64_t mixed = *seed += 0x9E3779B97F4A7C15;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return mixed ^ mixed >> 31;
}

static void save_changes(image *image, unsigned char **bytes, int64_t *size, uint64_t *seed) {
  int mood = (int)(draw(seed) % 4); // nothing of it, all of it, all up to some point, any of it
  long count = 0, index = 0;
  for (change *change = image->first; change; change = change->next) count++;
  long until = count ? (long)(draw(seed) % (uint64_t)(count + 1)) : 0;
  for (change *change = image->first; change; change = change->next, index++) {
    int whole = mood == 1 || (mood == 2 && index < until) || (mood == 3 && draw(seed) % 2);
    int torn = !whole && ((mood == 2 && index == until) || (mood == 3 && draw(seed) % 2));
    if (whole && change->size < 0 && change->offset < *size) *size = change->offset;
    if (change->size < 0) continue;
    if (whole) apply(bytes, size, change->offset, change->data, change->size);
    if (!torn) continue;
    for (int64_t at = 0; at < change->size;) {
      int64_t end = (change->offset + at) / sector * sector + sector - change->offset;
      if (end > change->size) end = change->size;
      if (draw(seed) % 2) apply(bytes, size, change->offset + at, change->data + at, end - at);
      at = end;
    }
  }
}

int power_cut_save(power_cut *cut, const char *folder, uint64_t seed) {
  int status = 0;
  pthread_mutex_lock(&cut->mutex);
  for (image *image = cut->images; image; image = image->next) {
    if (!image->is_there && !image->first && !image->synced_size) continue;
    int is_sure = image->is_there && image->is_there_for_sure;
    if (!is_sure && draw(&seed) % 2) continue;
    int64_t size = image->synced_size;
    unsigned char *bytes = malloc((size_t)size + 1);
    if (size) memcpy(bytes, image->synced, (size_t)size);
    save_changes(image, &bytes, &size, &seed);
    const char *slash = strrchr(image->path, '/');
    char *path = sqlite3_mprintf("%s%s", folder, slash ? slash : image->path);
    FILE *saved = fopen(path, "wb");
    if (!saved || fwrite(bytes, 1, (size_t)size, saved) != (size_t)size) status = -1;
    if (saved && fclose(saved)) status = -1;
    sqlite3_free(path);
    free(bytes);
  }
  pthread_mutex_unlock(&cut->mutex);
  return status;
}

/// Before each write and sync, with nothing locked.
static void count_down(power_cut *cut) {
  pthread_mutex_lock(&cut->mutex);
  int is_due = cut->every && --cut->countdown <= 0;
  if (is_due) cut->countdown = cut->every;
  pthread_mutex_unlock(&cut->mutex);
  if (is_due) cut->on_cut(cut->context);
}

// MARK: Files

#define REAL(handle) (((file *)(handle))->real)
#define CALL(handle, method, ...) (REAL(handle)->pMethods->method(REAL(handle), ##__VA_ARGS__))

static int file_close(sqlite3_file *handle) { return CALL(handle, xClose); }

static int file_read(sqlite3_file *handle, void *bytes, int count, sqlite3_int64 offset) {
  file *this = (file *)handle;
  if (this->image && !strstr(this->image->path, "-wal")) {
    pthread_mutex_lock(&this->cut->mutex);
    int is_bad = offset < this->cut->bad_to && this->cut->bad_from < offset + count;
    pthread_mutex_unlock(&this->cut->mutex);
    if (is_bad) errno = EIO;
    if (is_bad) return SQLITE_IOERR_READ;
  }
  return CALL(handle, xRead, bytes, count, offset);
}

static int file_write(sqlite3_file *handle, const void *bytes, int count, sqlite3_int64 offset) {
  file *this = (file *)handle;
  if (!this->image) return CALL(handle, xWrite, bytes, count, offset);
  count_down(this->cut);
  pthread_mutex_lock(&this->cut->mutex);
  int64_t growth = offset + count - this->image->size;
  int is_full = this->cut->room >= 0 && growth > this->cut->room;
  if (!is_full && this->cut->room >= 0 && growth > 0) this->cut->room -= growth;
  pthread_mutex_unlock(&this->cut->mutex);
  if (is_full) return SQLITE_FULL;
  int status = CALL(handle, xWrite, bytes, count, offset);
  if (status != SQLITE_OK) return status;
  pthread_mutex_lock(&this->cut->mutex);
  keep(this->image, offset, bytes, count);
  pthread_mutex_unlock(&this->cut->mutex);
  return SQLITE_OK;
}

static int file_truncate(sqlite3_file *handle, sqlite3_int64 size) {
  file *this = (file *)handle;
  int status = CALL(handle, xTruncate, size);
  if (status != SQLITE_OK || !this->image) return status;
  pthread_mutex_lock(&this->cut->mutex);
  keep(this->image, size, NULL, 0);
  pthread_mutex_unlock(&this->cut->mutex);
  return SQLITE_OK;
}

static int file_sync(sqlite3_file *handle, int flags) {
  file *this = (file *)handle;
  if (!this->image) return CALL(handle, xSync, flags);
  count_down(this->cut);
  pthread_mutex_lock(&this->cut->mutex);
  this->cut->syncs++;
  int fails = this->cut->fail_syncs;
  // With a new file SQLite syncs the folder.
  if (!fails && !this->image->is_there_for_sure) settle_folder(this->cut);
  if (!fails) settle(this->image);
  pthread_mutex_unlock(&this->cut->mutex);
  if (fails) errno = EIO;
  // The real disk need not be waited for.
  return fails ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int file_size(sqlite3_file *handle, sqlite3_int64 *size) { return CALL(handle, xFileSize, size); }
static int file_lock(sqlite3_file *handle, int level) { return CALL(handle, xLock, level); }
static int file_unlock(sqlite3_file *handle, int level) { return CALL(handle, xUnlock, level); }
static int file_reserved(sqlite3_file *handle, int *result) { return CALL(handle, xCheckReservedLock, result); }
static int file_control(sqlite3_file *handle, int code, void *argument) {
  return CALL(handle, xFileControl, code, argument);
}
static int file_sector(sqlite3_file *handle) { return CALL(handle, xSectorSize); }
static int file_traits(sqlite3_file *handle) { return CALL(handle, xDeviceCharacteristics); }
static int file_map(sqlite3_file *handle, int page, int size, int extend, void volatile **memory) {
  return CALL(handle, xShmMap, page, size, extend, memory);
}
static int file_shm_lock(sqlite3_file *handle, int offset, int count, int flags) {
  return CALL(handle, xShmLock, offset, count, flags);
}
static void file_barrier(sqlite3_file *handle) { CALL(handle, xShmBarrier); }
static int file_unmap(sqlite3_file *handle, int delete) { return CALL(handle, xShmUnmap, delete); }

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_barrier,
    .xShmUnmap = file_unmap,
};

// MARK: The file system

static power_cut *of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *handle, int flags, int *opened) {
  file *this = (file *)handle;
  power_cut *cut = of(vfs);
  memset(this, 0, sizeof *this);
  this->cut = cut;
  pthread_mutex_lock(&cut->mutex);
  if (path && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL))
    this->image = open_image(cut, path);
  pthread_mutex_unlock(&cut->mutex);
  int status = cut->real->xOpen(cut->real, path, this->real, flags, opened);
  if (this->real->pMethods) this->base.pMethods = &methods;
  return status;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync) {
  power_cut *cut = of(vfs);
  pthread_mutex_lock(&cut->mutex);
  image *image = find(cut, path);
  if (image) {
    image->is_there = 0;
    if (sync) settle_folder(cut);
  }
  pthread_mutex_unlock(&cut->mutex);
  return cut->real->xDelete(cut->real, path, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  return of(vfs)->real->xAccess(of(vfs)->real, path, flags, result);
}
static int vfs_path(sqlite3_vfs *vfs, const char *path, int size, char *full) {
  return of(vfs)->real->xFullPathname(of(vfs)->real, path, size, full);
}
static int vfs_random(sqlite3_vfs *vfs, int count, char *bytes) {
  return of(vfs)->real->xRandomness(of(vfs)->real, count, bytes);
}
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
  return of(vfs)->real->xSleep(of(vfs)->real, microseconds);
}
static int vfs_time(sqlite3_vfs *vfs, double *time) { return of(vfs)->real->xCurrentTime(of(vfs)->real, time); }
static int vfs_error(sqlite3_vfs *vfs, int size, char *text) {
  return of(vfs)->real->xGetLastError(of(vfs)->real, size, text);
}

power_cut *power_cut_create(const char *name) {
  power_cut *cut = calloc(1, sizeof *cut);
  if (!cut) return NULL;
  sqlite3_vfs *real = sqlite3_vfs_find(NULL);
  cut->real = real;
  cut->room = -1;
  pthread_mutex_init(&cut->mutex, NULL);
  cut->vfs = (sqlite3_vfs){
      .iVersion = 1,
      .szOsFile = (int)sizeof(file) + real->szOsFile,
      .mxPathname = real->mxPathname,
      .zName = strdup(name),
      .pAppData = cut,
      .xOpen = vfs_open,
      .xDelete = vfs_delete,
      .xAccess = vfs_access,
      .xFullPathname = vfs_path,
      .xRandomness = vfs_random,
      .xSleep = vfs_sleep,
      .xCurrentTime = vfs_time,
      .xGetLastError = vfs_error,
  };
  sqlite3_vfs_register(&cut->vfs, 0);
  return cut;
}

void power_cut_destroy(power_cut *cut) {
  sqlite3_vfs_unregister(&cut->vfs);
  for (image *image = cut->images; image;) {
    struct image *next = image->next;
    forget(image);
    free(image->synced);
    free(image->path);
    free(image);
    image = next;
  }
  free((void *)cut->vfs.zName);
  pthread_mutex_destroy(&cut->mutex);
  free(cut);
}

void power_cut_every(power_cut *cut, long operations, void (*on_cut)(void *), void *context) {
  pthread_mutex_lock(&cut->mutex);
  cut->every = cut->countdown = operations;
  cut->on_cut = on_cut;
  cut->context = context;
  pthread_mutex_unlock(&cut->mutex);
}

void power_cut_room(power_cut *cut, int64_t bytes) {
  pthread_mutex_lock(&cut->mutex);
  cut->room = bytes;
  pthread_mutex_unlock(&cut->mutex);
}

void power_cut_bad(power_cut *cut, int64_t from, int64_t to) {
  pthread_mutex_lock(&cut->mutex);
  cut->bad_from = from;
  cut->bad_to = to;
  pthread_mutex_unlock(&cut->mutex);
}

void power_cut_fail_syncs(power_cut *cut, int fail) {
  pthread_mutex_lock(&cut->mutex);
  cut->fail_syncs = fail;
  pthread_mutex_unlock(&cut->mutex);
}

long power_cut_syncs(power_cut *cut) {
  pthread_mutex_lock(&cut->mutex);
  long syncs = cut->syncs;
  pthread_mutex_unlock(&cut->mutex);
  return syncs;
}
