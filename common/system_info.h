/* system_info.h — the resources that this machine gives to this process. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the available memory in bytes: the kernel's estimate (MemAvailable), limited by this
 * process's control group and its parents; 0 = unknown. */
uint64_t system_available_memory(void);
/* Sets the folder of this process's control group for a controller ("pids"; "" = version 2), from
 * /proc/self/cgroup. */
bool system_cgroup_path(const char *controller, char *out, size_t size);
