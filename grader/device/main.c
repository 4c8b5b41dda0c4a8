/* main.c — build/libexec/device, the device process. The grader starts it in a sandbox with three
 * descriptors (grader/server/control.h) and one argument, "sim" or "gpu".
 *
 * With the simulated GPU it needs no files, so it calls jail_restrict_self before it reads a
 * request. A real GPU's driver opens devices and files and makes many system calls, so then only
 * the sandbox confines it. */
#include "grader/device/serve.h"
#include "grader/jail/jail.h"
#include "grader/sim/sim.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) return fputs("device: run build/grader, which starts this program\n", stderr), 2;
    /* The grader sets WARPBOOK_DEVICE_UNLOCKED in builds with sanitizers, whose runtime reads
     * files, and WARPBOOK_DEVICE_LOCK_MAY_FAIL with --no-jail, for kernels without seccomp. With
     * --no-jail, it also passes SIMGPU_NATIVE on, by which tests compare native code. */
    bool is_unrestricted =
        !strcmp(argv[1], "gpu") || getenv("WARPBOOK_DEVICE_UNLOCKED") || getenv("SIMGPU_NATIVE");
    bool may_fail = getenv("WARPBOOK_DEVICE_LOCK_MAY_FAIL");
    sim_init_before_sandbox();
    if (!is_unrestricted && !jail_restrict_self() && !may_fail)
        return fputs("device: cannot install its seccomp filter\n", stderr), 3;
    return device_serve();
}
