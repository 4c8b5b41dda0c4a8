/* jail_advice.h — what to change on a machine where no sandbox works; jail_probe.c calls it. */
#pragma once
#include "common/buf.h"

/* Appends one line for each change that would allow a sandbox. `landlock` is the kernel's Landlock
 * version. `root` is "" except in tests, which pass a folder that stands for /. */
void jail_advice(struct buf *out, const char *root, int landlock);
