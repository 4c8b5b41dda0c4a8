/* jail_filter.c — builds the seccomp filter of a sandboxed program from seccomp.def and
 * host_calls.def. */
#include "grader/jail/jail_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TMPFILE = O_TMPFILE & ~O_DIRECTORY };

static const struct {
    int number;
    bool fatal[2];
    bool without_namespaces_only; /* refused if the program shares the machine's files, processes */
    bool other_process_only;      /* refused if the first argument names another process */
    bool host_only;               /* allowed for compilers */
    bool is_socket; /* allowed for a GPU's driver, which does not start without a socket */
} syscalls[] = {
#define FAIL                         false
#define KILL                         true
#define CALL(name, compiler, host)   {SCMP_SYS(name), {compiler, host}, false, false, false, false},
#define SOCKET(name, compiler, host) {SCMP_SYS(name), {compiler, host}, false, false, false, true},
#define SHARED(name)                 {SCMP_SYS(name), {false, false}, true, false, false, false},
#define SHARED_HOST(name)            {SCMP_SYS(name), {false, false}, true, false, true, false},
#define HOST(name)                   {SCMP_SYS(name), {false, false}, false, false, true, false},
#define OTHER_PROCESS(name)          {SCMP_SYS(name), {false, false}, false, true, false, false},
#include "grader/jail/seccomp.def"
#undef CALL
#undef SOCKET
#undef SHARED
#undef SHARED_HOST
#undef HOST
#undef OTHER_PROCESS
#undef FAIL
#undef KILL
};

static bool add_syscall_rules(scmp_filter_ctx filter, enum jail_kind kind,
                              bool without_namespaces) {
    for (size_t i = 0; i < sizeof syscalls / sizeof *syscalls; i++) {
        if ((syscalls[i].host_only && kind != JAIL_HOST) ||
            (syscalls[i].is_socket && kind == JAIL_GPU))
            continue;
        uint32_t action = kind <= JAIL_HOST && syscalls[i].fatal[kind] ? SCMP_ACT_KILL_PROCESS
                                                                       : SCMP_ACT_ERRNO(EPERM);
        if (syscalls[i].number < 0 || (syscalls[i].without_namespaces_only && !without_namespaces))
            continue;
        if (syscalls[i].other_process_only
                ? seccomp_rule_add(filter, action, syscalls[i].number, 1, SCMP_A0(SCMP_CMP_NE, 0)) <
                      0
                : seccomp_rule_add(filter, action, syscalls[i].number, 0) < 0)
            return false;
    }
    /* clone may not create namespaces. A filter can't read clone3's flags, which are in memory, so
     * clone3 returns ENOSYS and glibc falls back to clone. */
    uint64_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                          CLONE_NEWUTS | CLONE_NEWCGROUP;
    for (uint64_t bit = 1; bit <= namespaces; bit <<= 1)
        if ((namespaces & bit) && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone),
                                                   1, SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit)) < 0)
            return false;
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

/* The newest system call that the lists cover; from 424 on, all machines use the same
 * numbers. Newer calls return ENOSYS, as on an older kernel. Otherwise fchmodat2 and setxattrat
 * could do what fchmodat and setxattr may not. */
enum { MAX_KNOWN_SYSCALL = 450 };

#ifndef __SNR_futex_waitv /* libseccomp before 2.5.4, as in Ubuntu 22.04, has no name for it. */
#define __SNR_futex_waitv 449
#endif
static const int host_calls[] = {
#define ALLOW(name) SCMP_SYS(name),
#include "grader/jail/host_calls.def"
#undef ALLOW
};

static bool is_host_call(int number) {
    for (size_t i = 0; i < sizeof host_calls / sizeof *host_calls; i++)
        if (host_calls[i] == number) return true;
    return false;
}

static bool has_rule(int number) {
    for (size_t i = 0; i < sizeof syscalls / sizeof *syscalls; i++)
        if (syscalls[i].number == number) return true;
    return false;
}

/* Refuses host code every call that host_calls.def does not list and seccomp.def doesn't know. The
 * numbers are this machine's; libseccomp translates them for another one. */
static bool add_host_rules(scmp_filter_ctx filter, enum jail_kind kind) {
    for (int number = 0; kind == JAIL_HOST && number <= MAX_KNOWN_SYSCALL; number++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
        bool is_refused = name && !is_host_call(number) && !has_rule(number) &&
                          number != SCMP_SYS(openat2); /* add_file_rules */
        free(name);
        if (is_refused && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) < 0)
            return false;
    }
    return true;
}

/* Refuses memory that RLIMIT_DATA does not count: shared and growing mappings. Compilers may use
 * them, because no student's code runs in their sandbox. */
static bool add_memory_rules(scmp_filter_ctx filter, enum jail_kind kind) {
    static const uint64_t uncounted[] = {MAP_SHARED | MAP_ANONYMOUS, MAP_GROWSDOWN};
    for (unsigned i = 0; kind == JAIL_HOST && i < 2; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), 1,
                             SCMP_A3(SCMP_CMP_MASKED_EQ, uncounted[i], uncounted[i])) < 0)
            return false;
    return true;
}

/* Refuses calls to host code by one of their arguments. A file without a name takes disk space that
 * measuring the folder doesn't find. Locks, leases and flags change files that other programs see,
 * even if host code may only read them. */
static bool add_file_rules(scmp_filter_ctx filter, enum jail_kind kind) {
    static const struct {
        int number;
        unsigned argument;
        uint64_t mask, value;
    } rules[] = {
        {SCMP_SYS(open), 1, TMPFILE, TMPFILE},
        {SCMP_SYS(openat), 2, TMPFILE, TMPFILE},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETLK},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETLKW},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_OFD_SETLK},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_OFD_SETLKW},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETLEASE},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_NOTIFY},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC_SETFLAGS},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC_SETVERSION},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC32_SETFLAGS},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC32_SETVERSION},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC_FSSETXATTR},
    };
    if (kind != JAIL_HOST) return true;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].number < 0) continue; /* aarch64 has no open */
        struct scmp_arg_cmp condition = {rules[i].argument, SCMP_CMP_MASKED_EQ, rules[i].mask,
                                         rules[i].value};
        if (seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), rules[i].number, 1,
                                   &condition) < 0)
            return false;
    }
    /* A filter can't read openat2's flags, which are in memory. */
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) == 0;
}

static bool read_filter(int fd, struct sock_fprog *out) {
    static const struct sock_filter reject_newer[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, MAX_KNOWN_SYSCALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0 || size > 65536) return false;
    out->filter = xmalloc((size_t)size + sizeof reject_newer);
    out->len = (unsigned short)(((size_t)size + sizeof reject_newer) / sizeof(struct sock_filter));
    memcpy(out->filter, reject_newer, sizeof reject_newer);
    return pread(fd, (char *)out->filter + sizeof reject_newer, (size_t)size, 0) == size;
}

/* Sets the machine of the filter. libseccomp leaves out rules for calls that a machine lacks. */
static bool set_architecture(scmp_filter_ctx filter, uint32_t arch) {
    return arch == seccomp_arch_native() ||
           (!seccomp_arch_remove(filter, SCMP_ARCH_NATIVE) && !seccomp_arch_add(filter, arch));
}

bool jail_filter(enum jail_kind kind, bool without_namespaces, uint32_t arch,
                 struct sock_fprog *out) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int fd = memfd_create("filter", MFD_CLOEXEC);
    bool ok = filter && fd >= 0 && set_architecture(filter, arch) &&
              add_syscall_rules(filter, kind, without_namespaces) && add_host_rules(filter, kind) &&
              add_memory_rules(filter, kind) && add_file_rules(filter, kind) &&
              seccomp_export_bpf(filter, fd) == 0 && read_filter(fd, out);
    if (fd >= 0) close(fd);
    seccomp_release(filter);
    return ok;
}
