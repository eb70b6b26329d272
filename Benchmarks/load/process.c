#include "load.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

void start_process(char **command) {
    pid_t parent = getpid();
    child = fork();
    if (child < 0) fail("fork");
    if (child > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    // What is printed on standard output are results.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

void check_process(void) {
    int status;
    if (child > 0 && waitpid(child, &status, WNOHANG) == child) {
        child = 0;
        fail("the server ended with status %#x", status);
    }
}

void stop_process(void) {
    if (child <= 0) return;
    close_range(STDERR_FILENO + 1, ~0u, 0);
    kill(child, SIGTERM);
    for (int attempt = 0; attempt < 200; attempt++) {
        if (waitpid(child, NULL, WNOHANG) == child) {
            child = 0;
            return;
        }
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    child = 0;
}

static double cpu_seconds(pid_t process) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *threads = opendir(path);
    if (!threads) return 0;
    double sum = 0;
    for (struct dirent *entry; (entry = readdir(threads));) {
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", process, entry->d_name);
        FILE *file = fopen(path, "r");
        unsigned long long ran = 0;
        if (!file) continue;
        if (fscanf(file, "%llu", &ran) == 1) sum += (double)ran / 1e9;
        fclose(file);
    }
    closedir(threads);
    return sum;
}

static double memory_bytes(pid_t process) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", process);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    double kilobytes = 0;
    while (fgets(line, sizeof line, file) && sscanf(line, "Pss: %lf", &kilobytes) != 1) continue;
    fclose(file);
    return kilobytes * 1024;
}

static pid_t parent_of(pid_t process) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = 0;
    char *end = strrchr(text, ')'), state;
    int parent = 0;
    return end && sscanf(end + 2, "%c %d", &state, &parent) == 2 ? parent : 0;
}

static bool is_ours(pid_t process) {
    for (int depth = 0; depth < 4 && process > 1; depth++, process = parent_of(process))
        if (process == child) return true;
    return false;
}

struct usage process_usage(void) {
    struct usage usage = {0};
    DIR *all = opendir("/proc");
    if (!all) fail("/proc");
    for (struct dirent *entry; (entry = readdir(all));) {
        pid_t process = atoi(entry->d_name);
        if (process <= 1 || !is_ours(process)) continue;
        usage.cpu_seconds += cpu_seconds(process);
        usage.memory_bytes += memory_bytes(process);
    }
    closedir(all);
    return usage;
}
