#pragma once

/// Has this thread's accesses to files be judged as those of another user, if the process is root's.
void file_user_set(unsigned user);

/// Mounts a file system in memory at a folder, or changes its size. Needs root. Returns 0, or -1.
int small_disk_mount(const char *folder, long bytes, int is_there);

/// Takes it away, even if files are still open.
void small_disk_unmount(const char *folder);
