/* machine.c — see machine.h. */
#include "common/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char root[] = "/sys/fs/cgroup";
enum { PATH = 4096 };

bool machine_own_group(const char *controller, char *out, size_t size) {
    char line[PATH];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        found = !strcmp(names + 1, controller);
        if (found)
            found = (size_t)snprintf(out, size, "%s%s%s%s", root, *controller ? "/" : "",
                                     controller, !strcmp(path, "/") ? "" : path) < size;
    }
    if (f) fclose(f);
    return found;
}

/* False where there is no such file, or no number in it ("max"). */
static bool read_number(const char *folder, const char *name, uint64_t *v) {
    char path[PATH + 64], text[64] = "", *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(text, sizeof text, f);
    if (f) fclose(f);
    errno = 0;
    *v = strtoull(text, &end, 10);
    return ok && end > text && !errno;
}

/* What the groups from this one up to the root still give. */
static uint64_t room_of_groups(const char *controller, const char *limit_name,
                               const char *used_name) {
    char folder[PATH];
    uint64_t least = UINT64_MAX, limit, used;
    if (!machine_own_group(controller, folder, sizeof folder)) return least;
    for (char *slash; strlen(folder) >= strlen(root); *slash = 0) {
        if (read_number(folder, limit_name, &limit) && read_number(folder, used_name, &used)) {
            uint64_t room = limit > used ? limit - used : 0;
            if (room < least) least = room;
        }
        slash = strrchr(folder, '/');
    }
    return least;
}

uint64_t machine_memory(void) {
    char line[128];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu", &kib) != 1) {}
    if (f) fclose(f);
    uint64_t room = (uint64_t)kib << 10, two = room_of_groups("", "memory.max", "memory.current"),
             one = room_of_groups("memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
    if (two < room) room = two;
    return one < room ? one : room;
}
