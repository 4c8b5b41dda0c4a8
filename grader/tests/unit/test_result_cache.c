/* test_result_cache.c — tests which results are kept and for whom (grade/result_cache.h), and the
 * bound of the cache (common/cache_bound.c). */
#include "common/file.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/grade/result_cache.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

static void open_fn(void) {
    struct err e = {0};
    strcpy(folder, "/tmp/warpbook-kept-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(book_open(&e));
}

static void close_fn(void) {
    shell("rm -rf %s", folder);
    unsetenv("WARPBOOK_CACHE_MIB");
}

/* ---- which results are kept ---- */

static bool is_kept(struct result r, bool no_speed) {
    static unsigned n;
    char name[96], key[HASH_HEX_SIZE];
    struct result found;
    struct grade_options o = {.no_speed = no_speed};
    snprintf(name, sizeof name, "%s %u", folder, n++);
    sha256_hex(name, strlen(name), key);
    result_cache_store(key, &o, &r);
    bool kept = result_cache_load(r.ex, key, &found);
    ck_assert(!kept || (found.is_kept && found.verdict == r.verdict));
    if (kept) result_free(&found);
    return kept;
}

START_TEST(what_the_machine_decides_is_not_kept) {
    static const enum verdict never[] = {V_IE, V_UNSTABLE, V_TLE, V_MLE};
    struct result r = {.ex = book_at(0), .speed = {.valid = true}};
    for (unsigned v = 0; v < V_COUNT; v++) {
        bool expected = true;
        for (unsigned i = 0; i < sizeof never / sizeof *never; i++) expected &= never[i] != v;
        r.verdict = v;
        ck_assert_msg(is_kept(r, false) == expected, "%s", verdict_code(r.verdict));
    }
    r.verdict = V_AC, r.depends_on_machine = true;
    ck_assert(!is_kept(r, false));
    r.depends_on_machine = false, r.speed.valid = false;
    ck_assert(!is_kept(r, false)); /* a busy machine may have lost the time */
    ck_assert(is_kept(r, true));
}
END_TEST

static const char *key_of(const char *source, enum grade_reuse reuse, const char *seed,
                          bool counts_speed) {
    static char keys[4][HASH_HEX_SIZE];
    static unsigned next;
    char *key = keys[next++ % 4];
    struct grade_options o = {
        .device = grade_device(), .reuse = reuse, .seed = seed, .count_modelled = counts_speed};
    return result_cache_key(book_at(0), "a.cu", source, strlen(source), &o, key) ? key : "none";
}

START_TEST(a_key_has_the_source_the_options_and_the_seed_policy) {
    const char *first = key_of("x", GRADE_REUSE_DRAWN_SEED, "1", true);
    ck_assert_str_ne(first, "none");
    ck_assert_str_eq(first, key_of("x", GRADE_REUSE_DRAWN_SEED, "2", true));
    ck_assert_str_ne(first, key_of("y", GRADE_REUSE_DRAWN_SEED, "1", true));
    ck_assert_str_ne(first, key_of("x", GRADE_REUSE_DRAWN_SEED, "1", false));
    first = key_of("x", GRADE_REUSE_SAME_SEED, "1", true);
    ck_assert_str_ne(first, key_of("x", GRADE_REUSE_DRAWN_SEED, "1", true));
    ck_assert_str_ne(first, key_of("x", GRADE_REUSE_SAME_SEED, "2", true));
    ck_assert_str_eq(first, key_of("x", GRADE_REUSE_SAME_SEED, "1", true));
    ck_assert_str_eq(key_of("x", GRADE_ANEW, "1", true), "none");
}
END_TEST

/* The file differs in each run of the test, so that no earlier run has kept its result. */
START_TEST(the_same_file_keeps_its_seed_until_it_changes) {
    static const char script[] =
        "cd %s && f=a.cu && echo \"error $PWD\" >$f && "
        "run() { %s/grader run transpose --file $f --format json \"$@\" | grep -m1 '\"seed\"'; }; "
        "a=$(run) && b=$(run) && c=$(run --no-cache) && d=$(run --seed given) && "
        "echo more >>$f && e=$(run) && "
        "test \"$a\" = \"$b\" && test \"$a\" != \"$c\" && test \"$a\" != \"$e\" && "
        "case $d in *given*) ;; *) false ;; esac";
    ck_assert_int_eq(shell(script, folder, build_folder()), 0);
}
END_TEST

/* ---- the bound ---- */

/* Adds a file of 1 MiB that was used `age` minutes ago. */
static void add_entry(const char *name, unsigned age) {
    ck_assert_int_eq(shell("cd %s && mkdir -p obj carried && head -c 1048576 /dev/zero >%s && "
                           "touch -d '%u minutes ago' %s",
                           folder, name, age, name),
                     0);
}

static bool has_entry(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_exists(path);
}

START_TEST(a_quick_verification_keeps_its_results) {
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(
            shell("%s/grader verify --quick transpose >%s/verified", build_folder(), folder), 0);
    ck_assert_int_eq(shell("grep -q '^(2 of 2 results kept' %s/verified", folder), 0);
    ck_assert_int_eq(
        shell("%s/grader verify --quick --no-cache transpose >%s/verified", build_folder(), folder),
        0);
    ck_assert_int_ne(shell("grep -q kept %s/verified", folder), 0);
}
END_TEST

START_TEST(the_least_recently_used_entries_go_beyond_the_limit) {
    setenv("WARPBOOK_CACHE_MIB", "4", 1);
    add_entry("obj/old", 30), add_entry("obj/middle", 20), add_entry("obj/new", 1);
    cache_count_added(folder, 1 << 20);
    ck_assert(has_entry("obj/old")); /* 3 of 4 MiB */
    add_entry("obj/newer", 0), add_entry("obj/newest", 0);
    cache_count_added(folder, 1 << 20), cache_count_added(folder, 1 << 20);
    ck_assert(!has_entry("obj/old") && !has_entry("obj/middle"));
    ck_assert(has_entry("obj/new") && has_entry("obj/newer") && has_entry("obj/newest"));
}
END_TEST

START_TEST(objects_for_a_machine_without_compiler_stay) {
    char name[80] = "obj/", key[HASH_HEX_SIZE];
    sha256_hex("x", 1, key);
    strcat(name, key);
    add_entry(name, 30), add_entry("obj/other", 20);
    ck_assert_int_eq(shell("echo %s 13000 >%s/carried/entry", key, folder), 0);
    cache_evict(folder, 0);
    ck_assert(has_entry(name) && has_entry("carried/entry") && !has_entry("obj/other"));
}
END_TEST

/* Adds entries until it is killed, as another grader does. */
static _Noreturn void add_entries(void) {
    char kind[128], name[192];
    snprintf(kind, sizeof kind, "%s/obj", folder);
    for (unsigned i = 0;; i++) {
        snprintf(name, sizeof name, "%s/%u", kind, i);
        mkdir(kind, 0700);
        close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
}

START_TEST(emptying_succeeds_while_another_grader_adds_entries) {
    struct err e = {0};
    pid_t other = fork();
    if (other == 0) add_entries();
    bool ok = true;
    for (time_t end = time(NULL) + 2; ok && time(NULL) < end;) ok = cache_empty(folder, &e);
    kill(other, SIGKILL), waitpid(other, NULL, 0);
    ck_assert_msg(ok, "%s", e.text);
    ck_assert_msg(cache_empty(folder, &e), "%s", e.text);
    ck_assert(!has_entry("obj") && has_entry("."));
}
END_TEST

START_TEST(a_limit_is_a_number_of_mebibytes) {
    static const struct {
        const char *text;
        unsigned long long mib;
    } list[] = {{"7", 7}, {"", 256}, {"0", 256}, {"x", 256}, {"7x", 256}, {"-1", 256}};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
        setenv("WARPBOOK_CACHE_MIB", list[i].text, 1);
        ck_assert_msg(cache_limit() == list[i].mib << 20, "'%s'", list[i].text);
    }
}
END_TEST

START_TEST(a_folder_that_others_may_write_to_is_not_used) {
    ck_assert(cache_is_private(folder));
    ck_assert_int_eq(chmod(folder, 0775), 0);
    ck_assert(!cache_is_private(folder));
    ck_assert(!cache_is_private("/tmp") && !cache_is_private("/nonexistent"));
}
END_TEST

UNIT_SUITE(result_cache) {
    Suite *suite = suite_create("result_cache");
    TCase *t = tcase_create("results"), *b = tcase_create("bound");
    tcase_add_checked_fixture(t, open_fn, close_fn);
    tcase_add_checked_fixture(b, open_fn, close_fn);
    tcase_add_test(t, what_the_machine_decides_is_not_kept);
    tcase_add_test(t, a_key_has_the_source_the_options_and_the_seed_policy);
    tcase_add_test(t, the_same_file_keeps_its_seed_until_it_changes);
    tcase_add_test(t, a_quick_verification_keeps_its_results);
    tcase_add_test(b, the_least_recently_used_entries_go_beyond_the_limit);
    tcase_add_test(b, objects_for_a_machine_without_compiler_stay);
    tcase_add_test(b, emptying_succeeds_while_another_grader_adds_entries);
    tcase_add_test(b, a_limit_is_a_number_of_mebibytes);
    tcase_add_test(b, a_folder_that_others_may_write_to_is_not_used);
    suite_add_tcase(suite, t), suite_add_tcase(suite, b);
    return suite;
}
