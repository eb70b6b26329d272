#define _GNU_SOURCE
#include "machine.h"

#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/mount.h>

void file_user_set(unsigned user) { setfsuid(user); }

int small_disk_mount(const char *folder, long bytes, int is_there) {
  char options[64];
  snprintf(options, sizeof options, "size=%ld,mode=0700", bytes);
  return mount("tmpfs", folder, "tmpfs", is_there ? MS_REMOUNT : 0, options);
}

void small_disk_unmount(const char *folder) { umount2(folder, MNT_DETACH); }
