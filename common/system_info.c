/* system_info.c — see system_info.h. */
#include "common/system_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cgroup_root[] = "/sys/fs/cgroup";
enum { CGROUP_PATH_BYTES = 4096 };

bool system_cgroup_path(const char *controller, char *out, size_t size) {
    char line[CGROUP_PATH_BYTES];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        found = !strcmp(names + 1, controller);
        if (found)
            found = (size_t)snprintf(out, size, "%s%s%s%s", cgroup_root, *controller ? "/" : "",
                                     controller, !strcmp(path, "/") ? "" : path) < size;
    }
    if (f) fclose(f);
    return found;
}

/* Returns false if the file is missing or has no number ("max"). */
static bool read_u64(const char *folder, const char *name, uint64_t *v) {
    char path[CGROUP_PATH_BYTES + 64], text[64] = "", *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(text, sizeof text, f);
    if (f) fclose(f);
    errno = 0;
    *v = strtoull(text, &end, 10);
    return ok && end > text && !errno;
}

/* Returns the memory still available in the control group and its parents. */
static uint64_t cgroup_available(const char *controller, const char *limit_name,
                                 const char *usage_name) {
    char folder[CGROUP_PATH_BYTES];
    uint64_t available = UINT64_MAX, limit, used;
    if (!system_cgroup_path(controller, folder, sizeof folder)) return available;
    for (char *slash; strlen(folder) >= strlen(cgroup_root); *slash = 0) {
        if (read_u64(folder, limit_name, &limit) && read_u64(folder, usage_name, &used)) {
            uint64_t remaining = limit > used ? limit - used : 0;
            if (remaining < available) available = remaining;
        }
        slash = strrchr(folder, '/');
    }
    return available;
}

uint64_t system_available_memory(void) {
    char line[128];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu", &kib) != 1) {}
    if (f) fclose(f);
    uint64_t available = (uint64_t)kib << 10,
             available_v2 = cgroup_available("", "memory.max", "memory.current"),
             available_v1 =
                 cgroup_available("memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
    if (available_v2 < available) available = available_v2;
    return available_v1 < available ? available_v1 : available;
}
