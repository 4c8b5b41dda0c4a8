/* test_jail_filter.c — tests the system call filters for each processor (_i): an interpreter
 * here runs the programs that libseccomp makes, as the kernel would, so any machine can check
 * the table for aarch64. The call numbers come from the kernel's tables
 * (include/uapi/asm-generic/unistd.h for aarch64, arch/x86/entry/syscalls/syscall_64.tbl). */
#include "grader/jail/jail.h"
#include "grader/jail/jail_plan.h"
#include "grader/tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct machine {
    const char *name;
    uint32_t libseccomp, audit;
    int read, openat, ptrace, clone, mmap;
} machines[] = {
    {"x86-64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0, 257, 101, 56, 9},
    {"aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, 63, 56, 117, 220, 222},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static uint32_t word_at(const struct seccomp_data *d, uint32_t at) {
    uint32_t v;
    ck_assert_uint_le(at, sizeof *d - 4);
    memcpy(&v, (const char *)d + at, 4);
    return v;
}

static bool jumps(const struct sock_filter *f, uint32_t a) {
    switch (BPF_OP(f->code)) {
    case BPF_JEQ: return a == f->k;
    case BPF_JGT: return a > f->k;
    case BPF_JGE: return a >= f->k;
    case BPF_JSET: return a & f->k;
    default: return ck_abort_msg("jump %x", f->code), false;
    }
}

/* Returns the filter's result: interprets the part of classic BPF that filters use. */
static uint32_t run_bpf(const struct sock_fprog *p, const struct seccomp_data *d) {
    uint32_t a = 0;
    for (unsigned at = 0; at < p->len; at++) {
        const struct sock_filter *f = &p->filter[at];
        if (f->code == (BPF_LD | BPF_W | BPF_ABS)) a = word_at(d, f->k);
        else if (f->code == (BPF_ALU | BPF_AND | BPF_K)) a &= f->k;
        else if (f->code == (BPF_JMP | BPF_JA)) at += f->k;
        else if (BPF_CLASS(f->code) == BPF_JMP) at += jumps(f, a) ? f->jt : f->jf;
        else if (f->code == (BPF_RET | BPF_K)) return f->k;
        else ck_abort_msg("instruction %x", f->code);
    }
    return ck_abort_msg("the filter has no end"), 0;
}

static uint32_t filter_action(const struct sock_fprog *p, const struct machine *m, int nr,
                              uint64_t a0, uint64_t a1, uint64_t a2) {
    struct seccomp_data d = {.nr = nr, .arch = m->audit, .args = {a0, a1, a2, 0}};
    return run_bpf(p, &d);
}

static struct sock_fprog filter(const struct machine *m, enum jail_kind kind, bool shared) {
    struct sock_fprog p = {0};
    seccomp_api_set(3); /* the filter is made, not laid: what this kernel (or an emulator of one)
                           has is of no matter */
    ck_assert_msg(jail_filter(kind, shared, m->libseccomp, &p), "no filter for %s", m->name);
    return p;
}

static const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;

/* Checks each row of the table, by the call's number on that machine, and counts missing calls. */
static unsigned try_rows(const struct machine *m, const struct sock_fprog *p) {
    unsigned missing = 0;
    static const struct {
        const char *name;
        uint32_t action;
    } rows[] = {
#define FAIL                         SECCOMP_RET_ERRNO | EPERM
#define KILL                         SECCOMP_RET_KILL_PROCESS
#define CALL(name, compiler, host)   {#name, host},
#define SOCKET(name, compiler, host) {#name, host},
#define SHARED(name)                 {#name, FAIL},
#define SHARED_HOST(name)            {#name, FAIL},
#define HOST(name)                   {#name, FAIL},
#define OTHER_PROCESS(name)          {#name, FAIL},
#include "grader/jail/seccomp.def"
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        int nr = seccomp_syscall_resolve_name_arch(m->libseccomp, rows[i].name);
        if (nr < 0) missing++;
        else
            ck_assert_msg(filter_action(p, m, nr, 1, 0, 0) == rows[i].action,
                          "%s: %s (%d) is answered %08x", m->name, rows[i].name, nr,
                          filter_action(p, m, nr, 1, 0, 0));
    }
    return missing;
}

START_TEST(every_denied_system_call_is_rejected) {
    const struct machine *m = &machines[_i];
    /* Numbers are translated from this machine's, and aarch64 has none for some rows. */
    if (m->libseccomp == SCMP_ARCH_X86_64 && seccomp_arch_native() != m->libseccomp)
        SKIP("x86-64's rows, on another machine");
    struct sock_fprog p = filter(m, JAIL_HOST, true);
    unsigned missing = try_rows(m, &p);
    /* What aarch64 never had: its C library makes them of younger calls, all of them rows: mknod
     * iopl ioperm chmod chown lchown utime utimes futimesat unlink rename inotify_init; and
     * modify_ldt, of x86 alone. */
    ck_assert_uint_eq(missing, strcmp(m->name, "aarch64") ? 0 : 13);
    free(p.filter);
}
END_TEST

START_TEST(required_system_calls_are_allowed) {
    const struct machine *m = &machines[_i];
    struct sock_fprog p = filter(m, JAIL_HOST, false);
    ck_assert_uint_eq(filter_action(&p, m, m->read, 0, 0, 0), SECCOMP_RET_ALLOW);
    ck_assert_uint_eq(filter_action(&p, m, m->openat, 0, 0, O_RDONLY), SECCOMP_RET_ALLOW);
    ck_assert_uint_eq(filter_action(&p, m, m->mmap, 0, 4096, PROT_READ), SECCOMP_RET_ALLOW);
    ck_assert_uint_eq(filter_action(&p, m, m->clone, CLONE_VM | CLONE_THREAD, 0, 0),
                      SECCOMP_RET_ALLOW);
    ck_assert_uint_eq(filter_action(&p, m, m->clone, CLONE_NEWUSER, 0, 0), refused);
    ck_assert_uint_eq(filter_action(&p, m, m->ptrace, 0, 0, 0), SECCOMP_RET_KILL_PROCESS);
    free(p.filter);
}
END_TEST

/* Host code gets what host_calls.def lists and nothing else; compilers aren't restricted so. */
START_TEST(host_code_may_make_listed_calls_only) {
    static const char *const unlisted[] = {
        "io_submit",   "io_getevents", "remap_file_pages",       "mlock2", "mq_timedsend", "fspick",
        "quotactl_fd", "fsconfig",     "set_mempolicy_home_node"};
    const struct machine *m = &machines[_i];
    struct sock_fprog host = filter(m, JAIL_HOST, false),
                      compiler = filter(m, JAIL_COMPILER, false);
    for (unsigned i = 0; i < sizeof unlisted / sizeof *unlisted; i++) {
        int nr = seccomp_syscall_resolve_name_arch(m->libseccomp, unlisted[i]);
        ck_assert_int_ge(nr, 0);
        ck_assert_msg(filter_action(&host, m, nr, 0, 0, 0) == refused, "%s: %s", m->name,
                      unlisted[i]);
        ck_assert_msg(filter_action(&compiler, m, nr, 0, 0, 0) == SECCOMP_RET_ALLOW, "%s: %s",
                      m->name, unlisted[i]);
    }
    free(host.filter);
    free(compiler.filter);
}
END_TEST

/* 452 is fchmodat2 everywhere; 435 clone3. A file without a name: the flag alone, whatever else the
 * machine's O_TMPFILE has. */
START_TEST(filters_agree_on_every_architecture) {
    const struct machine *m = &machines[_i];
    struct sock_fprog p = filter(m, JAIL_HOST, false);
    ck_assert_uint_eq(filter_action(&p, m, 452, 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
    ck_assert_uint_eq(filter_action(&p, m, 435, 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
    ck_assert_uint_eq(filter_action(&p, m, m->openat, 0, 0, 020000000 | O_RDWR),
                      SECCOMP_RET_ERRNO | EOPNOTSUPP);
    free(p.filter);
}
END_TEST

/* Calls of another architecture's programs (32 bits) have other numbers, and must kill the
 * process. */
START_TEST(system_calls_of_a_foreign_architecture_kill) {
    const struct machine *m = &machines[_i];
    struct sock_fprog p = filter(m, JAIL_HOST, false);
    static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM};
    for (unsigned i = 0; i < 2; i++) {
        struct seccomp_data d = {.nr = m->read, .arch = others[i]};
        uint32_t actual = run_bpf(&p, &d);
        ck_assert_msg(actual == SECCOMP_RET_KILL_THREAD || actual == SECCOMP_RET_KILL_PROCESS,
                      "%08x", actual);
    }
    free(p.filter);
}
END_TEST

UNIT_SUITE(jail_filter) {
    Suite *s = suite_create("jail_filter");
    TCase *tc = tcase_create("jail_filter");
    tcase_add_loop_test(tc, every_denied_system_call_is_rejected, 0, MACHINES);
    tcase_add_loop_test(tc, required_system_calls_are_allowed, 0, MACHINES);
    tcase_add_loop_test(tc, host_code_may_make_listed_calls_only, 0, MACHINES);
    tcase_add_loop_test(tc, filters_agree_on_every_architecture, 0, MACHINES);
    tcase_add_loop_test(tc, system_calls_of_a_foreign_architecture_kill, 0, MACHINES);
    suite_add_tcase(s, tc);
    return s;
}
