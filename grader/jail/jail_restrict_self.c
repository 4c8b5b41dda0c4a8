/* jail_restrict_self.c — the seccomp filter that the device process installs on itself (jail.h). It
 * lists the system calls that computing needs; every other call kills the process, including the
 * calls that later kernels add. The rest of the sandbox stays in force. */
#include "grader/jail/jail.h"

#include <errno.h>
#include <linux/futex.h>
#include <seccomp.h>
#include <sys/mman.h>

static const int allowed_syscalls[] = {
    /* messages to the grader and the client, over open descriptors */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(close),
    SCMP_SYS(shutdown),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(fcntl),
    /* memory */
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    /* threads */
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(tgkill),
    SCMP_SYS(restart_syscall),
    /* time, if the vDSO does not provide it; the limit of the stack; random numbers for hash
     * tables; the size of memory, for qsort */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(getrandom),
    SCMP_SYS(prlimit64),
    SCMP_SYS(sysinfo),
};

/* Memory mapped from now on can't be executed. clone may start threads only, no processes. */
static bool add_argument_rules(scmp_filter_ctx f) {
    uint64_t thread = 0x00010000 /* CLONE_THREAD */;
    return !seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) &&
           !seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) &&
           !seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, thread, thread)) &&
           /* glibc falls back to clone. */
           !seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) &&
           /* glibc tries to read the number of cores from /sys. */
           !seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), 0);
}

bool jail_restrict_self(void) {
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
    bool ok = f && add_argument_rules(f);
    for (unsigned i = 0; ok && i < sizeof allowed_syscalls / sizeof *allowed_syscalls; i++)
        ok =
            allowed_syscalls[i] < 0 || !seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed_syscalls[i], 0);
    ok = ok && !seccomp_load(f);
    seccomp_release(f);
    return ok;
}
