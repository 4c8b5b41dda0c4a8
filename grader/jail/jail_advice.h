/* jail_advice.h — what a person can do where no jail holds. */
#pragma once
#include "common/buf.h"

/* Lines, one for each thing that would allow a jail here. `root` is "" but in tests: the folder
 * that stands for /. */
void jail_advice(struct buf *out, const char *root, int landlock);
