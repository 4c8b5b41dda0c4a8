/* system_info.h — what this machine gives to this process. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that can be taken now, as the kernel guesses (MemAvailable), within the limits of this
 * process's control group and those above it; 0 = not known. */
uint64_t system_available_memory(void);
/* The folder of this process's own control group of a controller ("pids"; "" = version 2), as
 * /proc/self/cgroup tells. */
bool system_cgroup_path(const char *controller, char *out, size_t size);
