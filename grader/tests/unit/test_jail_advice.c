/* test_jail_advice.c — tests the advice for machines where no sandbox works, or only the weaker
 * one. System call filters refuse here what such machines refuse; files in a folder stand for
 * their settings. */
#include "common/err.h"
#include "grader/jail/jail.h"
#include "grader/jail/jail_advice.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the advice for a machine whose root folder holds `files`, as shell words. */
static const char *advice(const char *script, int landlock) {
    static struct buf out;
    char root[4300];
    snprintf(root, sizeof root, "%s/tests/advice", build_folder());
    ck_assert_int_eq(
        shell("rm -rf '%s' && mkdir -p '%s/proc/sys/kernel' '%s/proc/sys/user' && cd '%s' && %s",
              root, root, root, root, script),
        0);
    buf_free(&out);
    jail_advice(&out, root, landlock);
    return buf_str(&out);
}

static const char debian[] = "kernel.unprivileged_userns_clone=1",
                  ubuntu[] = "kernel.apparmor_restrict_unprivileged_userns=0",
                  zero[] = "user.max_user_namespaces=15000",
                  filter[] = "--security-opt seccomp=unconfined", newer[] = "Linux 6.12",
                  unknown[] = "something here refuses", trust[] = "--no-jail";

static void expect(const char *text, const char *const *named, unsigned n) {
    const char *const all[] = {debian, ubuntu, zero, filter, newer, unknown, trust};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        bool is_expected = false;
        for (unsigned k = 0; k < n; k++) is_expected |= named[k] == all[i];
        ck_assert_msg((strstr(text, all[i]) != NULL) == is_expected, "%s: %s\n%s", all[i],
                      is_expected ? "not named" : "named", text);
    }
}
#define EXPECT(text, ...)                                  \
    do {                                                   \
        const char *const named[] = {__VA_ARGS__, trust};  \
        expect(text, named, sizeof named / sizeof *named); \
    } while (0)

START_TEST(only_the_blocking_setting_is_named) {
    EXPECT(advice("echo 0 >proc/sys/kernel/unprivileged_userns_clone", 0), debian, newer);
    EXPECT(advice("echo 1 >proc/sys/kernel/unprivileged_userns_clone; echo 1 "
                  ">proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                  4),
           ubuntu, newer);
    EXPECT(advice("echo 0 >proc/sys/user/max_user_namespaces", 6), zero);
    EXPECT(advice("echo 63000 >proc/sys/user/max_user_namespaces; : >.dockerenv", 5), filter,
           newer);
    EXPECT(advice("true", 0), unknown, newer);
}
END_TEST

/* From here on this test's process has no user namespaces, as in a container, and no Landlock,
 * as in an old kernel. */
static void refuse(bool namespaces, bool landlock) {
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
    ck_assert_ptr_nonnull(f);
    if (namespaces) {
        const struct scmp_arg_cmp user = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER);
        ck_assert(!seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, user));
        ck_assert(!seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0));
        ck_assert(!seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
    }
    for (int call = 444; landlock && call <= 446; call++)
        ck_assert(!seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), call, 0));
    ck_assert_int_eq(seccomp_load(f), 0);
    seccomp_release(f);
}

START_TEST(without_namespaces_and_landlock_nothing_runs) {
    struct err e = {0};
    refuse(true, true);
    ck_assert(!jail_probe(&e));
    ck_assert_msg(strstr(e.text, "T1: ") && strstr(e.text, "T2: "), "%s", e.text);
    ck_assert_msg(strstr(e.text, newer) && strstr(e.text, trust), "%s", e.text);
    ck_assert_msg(strstr(e.text, "See docs/other-systems.md") != NULL, "%s", e.text);
}
END_TEST

START_TEST(without_namespaces_landlock_restricts) {
    struct err e = {0};
    refuse(true, false);
    if (!jail_probe(&e))
        ck_assert_msg(strstr(e.text, newer) != NULL, "%s", e.text); /* this kernel is old */
    else
        ck_assert_msg(!strncmp(jail_describe_tier(), "T2: Landlock", 12), "%s",
                      jail_describe_tier());
}
END_TEST

START_TEST(without_landlock_namespaces_isolate) {
    struct err e = {0};
    refuse(false, true);
    ck_assert_msg(jail_probe(&e), "%s", e.text);
    ck_assert_msg(!strncmp(jail_describe_tier(), "T1: namespaces, no Landlock", 27), "%s",
                  jail_describe_tier());
}
END_TEST

/* Runs the grader where these folders can't be written. Returns 0 if it says that it needs one. It
 * runs from below /mnt, since the tree itself may lie in one of the folders. */
static int run_without(const char *folders) {
    return shell("unshare -m sh -c 'mount --rbind / /mnt || exit 1; "
                 "for f in %s; do mount -t tmpfs -o ro none $f || exit 1; done; "
                 "TEMP= TMPDIR= exec /mnt%s/grader run no_such_exercise' 2>&1 | "
                 "grep -q \"no folder for temporary files: /tmp\"",
                 folders, build_folder());
}

START_TEST(only_without_any_temporary_folder_nothing_runs) {
    if (shell("unshare -m true 2>/dev/null") != 0) return; /* only root may */
    ck_assert_int_eq(run_without("/tmp"), 1);
    ck_assert_int_eq(run_without("/tmp /dev/shm /var/tmp"), 0);
}
END_TEST

UNIT_SUITE(jail_advice) {
    Suite *s = suite_create("jail_advice");
    TCase *t = tcase_create("jail_advice");
    tcase_add_test(t, only_the_blocking_setting_is_named);
    tcase_add_test(t, without_namespaces_and_landlock_nothing_runs);
    tcase_add_test(t, without_namespaces_landlock_restricts);
    tcase_add_test(t, without_landlock_namespaces_isolate);
    tcase_add_test(t, only_without_any_temporary_folder_nothing_runs);
    suite_add_tcase(s, t);
    return s;
}
