/* user_limits.h — the limits that a shell or a batch system sets for processes (ulimit). */
#pragma once
#include "common/err.h"

#include <stdbool.h>

/* Raises the limits of this process to what gradings need. If one can't be raised, the error says
 * which, how far it must go, and how to raise it: under it, compilers and sandboxes would fail as
 * if a submission were at fault. */
bool cli_lift_limits(struct err *e);
