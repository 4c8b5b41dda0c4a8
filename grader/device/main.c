/* main.c — build/libexec/device: started by the grader in a jail, with three descriptors
 * (grader/server/control.h).
 *
 * With the simulated GPU it has no use for any file: it locks itself before it listens. A real
 * GPU's driver opens devices and files and makes system calls of its own, so there the jail that it
 * was started in is all that holds it; the grader says which of the two it is by the first
 * argument, "sim" or "gpu". */
#include "grader/device/serve.h"
#include "grader/jail/jail.h"
#include "grader/sim/sim.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) return fputs("device: started by build/grader, not by hand\n", stderr), 2;
    bool is_unrestricted = !strcmp(argv[1], "gpu") ||
                           getenv("WARPBOOK_DEVICE_UNLOCKED"); /* the variable: sanitisers */
    bool may_fail = getenv("WARPBOOK_DEVICE_LOCK_MAY_FAIL");   /* --no-jail: what the kernel has */
    sim_init_before_sandbox();
    if (!is_unrestricted && !jail_restrict_self() && !may_fail)
        return fputs("device: cannot lock itself in\n", stderr), 3;
    return device_serve();
}
