/* test_grader_parts.c — tests the grader's small parts: hash, cache, processes, packing, JSON,
 * command line, names of exercises. */
#include "common/paths.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/cli/options.h"
#include "grader/grade/result_serialize.h"
#include "grader/class/parallel.h"
#include "grader/report/report.h"
#include "grader/server/ptxas.h"
#include "grader/tests/unit/unit.h"

#include <jansson.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A part goes in as its length in 8 bytes, then itself: printf '\3\0\0\0\0\0\0\0abc' | sha256sum.
 */
START_TEST(hash_of_parts) {
    struct hash h;
    char one[HASH_HEX_SIZE], two[HASH_HEX_SIZE];
    hash_init(&h);
    hash_update_string(&h, "abc");
    hash_final_hex(&h, one);
    ck_assert_str_eq(one, "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391");
    hash_init(&h);
    hash_update_string(&h, "ab");
    hash_update_string(&h, "c");
    hash_final_hex(&h, two);
    ck_assert_str_ne(one, two);
}
END_TEST

static void key_of(const char *label, char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, label);
    hash_update_string(&h, __func__);
    hash_final_hex(&h, key);
}

static void entry_path(const char *key, char *path, size_t size) {
    snprintf(path, size, "%s/cache/unit-test/%s", paths_program_dir(), key);
}

START_TEST(the_cache_returns_what_was_stored) {
    struct err e = {0};
    struct buf b = {0};
    char key[HASH_HEX_SIZE], path[PATH_MAX];
    ck_assert(book_open(&e));
    key_of("keeps", key);
    entry_path(key, path, sizeof path);
    unlink(path);
    ck_assert(!cache_get("unit-test", key, &b));
    cache_put("unit-test", key, "pay\0load", 8);
    ck_assert(cache_get("unit-test", key, &b));
    ck_assert_uint_eq(b.size, 8);
    ck_assert_mem_eq(b.data, "pay\0load", 8);
    buf_free(&b);
}
END_TEST

START_TEST(a_damaged_cache_entry_is_discarded) {
    struct err e = {0};
    struct buf b = {0};
    char key[HASH_HEX_SIZE], path[PATH_MAX];
    ck_assert(book_open(&e));
    key_of("damaged", key);
    entry_path(key, path, sizeof path);
    cache_put("unit-test", key, "payload", 7);
    ck_assert(file_read(path, 1000, &b, &e));
    b.data[2] ^= 1;
    ck_assert(file_write(path, b.data, b.size, &e));
    buf_clear(&b);
    ck_assert(!cache_get("unit-test", key, &b));
    ck_assert_uint_eq(b.size, 0);
    ck_assert(!file_exists(path));
    cache_put("unit-test", key, "payload", 7);
    ck_assert(cache_get("unit-test", key, &b));
    buf_free(&b);
}
END_TEST

/* ---- processes ---- */

struct item_run {
    unsigned next, at[3], delivered_count, open,
        max_open; /* open: descriptors of memory files, when an item begins */
    struct buf output[5];
};

static unsigned descriptors(void) {
    unsigned n = 0;
    for (int fd = 3; fd < 256; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static enum parallel_status next_item(void *user, unsigned slot, struct err *e) {
    struct item_run *f = user;
    (void)e;
    if (descriptors() > f->max_open) f->max_open = descriptors();
    f->at[slot] = f->next;
    return f->next < 5 ? f->next++, PARALLEL_ITEM : PARALLEL_END;
}
static void item(void *user, unsigned slot, struct buf *out) {
    unsigned i = ((struct item_run *)user)->at[slot];
    usleep((5 - i) * 20000); /* the last one ends first */
    if (i == 3) raise(SIGKILL);
    buf_printf(out, "item %u", i);
}
static bool collect(void *user, unsigned slot, bool ok, const char *data, size_t size,
                    struct err *e) {
    struct item_run *f = user;
    (void)e;
    f->delivered_count++;
    buf_printf(&f->output[f->at[slot]], "[%s %.*s]", ok ? "ok" : "died", (int)size, data);
    return f->delivered_count < 100;
}

START_TEST(each_item_result_is_delivered_once) {
    static const char *const expected[] = {"[ok item 0]", "[ok item 1]", "[ok item 2]", "[died ]",
                                           "[ok item 4]"};
    struct item_run f = {0};
    struct err e = {0};
    unsigned before = descriptors();
    ck_assert(parallel_run(3, &(struct parallel_ops){next_item, item, collect, &f, NULL}, &e));
    ck_assert_uint_eq(f.delivered_count, 5);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_str_eq(buf_str(&f.output[i]), expected[i]);
        buf_free(&f.output[i]);
    }
    ck_assert_uint_eq(descriptors(), before);
    ck_assert_uint_le(f.max_open,
                      before + 2); /* the running ones': of three, two run when one begins */
}
END_TEST

/* ---- results ---- */

static const struct exercise none = {.name = "none", .chapter = "99-none", .title = "no exercise"};

static struct result example(void) {
    struct result r = {.ex = &none,
                       .verdict = V_PART,
                       .score = 62.5,
                       .max_score = 100,
                       .id = "99-none/none",
                       .file = "none.cu",
                       .message = ""};
    r.cases = arena_array(&r.arena, struct case_result, 1);
    r.cases[r.ncases++] =
        (struct case_result){.group = "correctness", .name = "1 x 2", .message = ""};
    r.technique = arena_array(&r.arena, struct technique_result, 1);
    r.technique[r.ntechnique++] = (struct technique_result){.name = "check",
                                                            .metric = "global_load_sectors",
                                                            .value = 32,
                                                            .limit = 4.5,
                                                            .is_upper_limit = true,
                                                            .reason = "because",
                                                            .file = "none.cu",
                                                            .line = 14};
    r.points_lost = arena_array(&r.arena, struct point_loss, 1);
    r.points_lost[r.npoints_lost++] = (struct point_loss){37.5, "goal", "goal not reached: check"};
    r.lines = arena_array(&r.arena, struct line_result, 1);
    r.lines[r.nlines++] =
        (struct line_result){"none.cu", 14, {.global_load_sectors = 32}, {1e-6, 2e-6}};
    r.kernel_times = arena_array(&r.arena, struct kernel_time, 1);
    r.kernel_times[r.nkernel_times++] = (struct kernel_time){
        .name = "k", .occupancy_limiter = "registers", .bound_by = "DRAM", .launches = 3, .us = 2};
    r.speed = (struct speed_result){.valid = true,
                                    .kind = "modelled",
                                    .student_us = 2,
                                    .solution_us = 1,
                                    .baseline_us = 3,
                                    .vs_solution = 0.5,
                                    .vs_baseline = 1.5,
                                    .roofline_fraction = 0.25,
                                    .bytes = 8000,
                                    .flops = 2000,
                                    .bound_by = "DRAM",
                                    .size = "1 x 2",
                                    .note = ""};
    r.has_counters = true;
    r.counters.global_load_sectors = 32;
    buf_puts(&r.log, "hello");
    return r;
}

START_TEST(a_result_survives_serialization) {
    struct result r = example(), back;
    struct buf b = {0}, again = {0};
    result_serialize(&r, &b);
    ck_assert(result_deserialize(&back, &none, b.data, b.size));
    ck_assert_str_eq(back.technique[0].reason, "because");
    ck_assert_ptr_null(back.technique[0].unit);
    ck_assert_str_eq(back.points_lost[0].reason, "goal not reached: check");
    ck_assert_str_eq(buf_str(&back.log), "hello");
    ck_assert_str_eq(back.kernel_times[0].occupancy_limiter, "registers");
    ck_assert_double_eq(back.lines[0].stall_seconds[1], 2e-6);
    result_serialize(&back, &again);
    ck_assert_uint_eq(b.size, again.size);
    ck_assert_mem_eq(b.data, again.data, b.size);
    struct result broken;
    for (size_t n = 0; n < b.size; n += 7) {
        ck_assert(!result_deserialize(&broken, &none, b.data, n));
        result_free(&broken);
    }
    result_free(&r), result_free(&back);
    buf_free(&b), buf_free(&again);
}
END_TEST

static void keys(const json_t *o, const char *expected) {
    struct buf b = {0};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)o, key, value) buf_printf(&b, "%s ", key);
    ck_assert_str_eq(buf_str(&b), expected);
    buf_free(&b);
}

/* The keys of docs/json.md, in its order. */
START_TEST(json_reports_have_the_documented_keys) {
    struct result r = example();
    const struct result *list[] = {&r};
    json_t *o = report_json(list, 1, device_find("h200"), "7");
    keys(o, "schema device seed jail exercises ");
    json_t *ex = json_array_get(json_object_get(o, "exercises"), 0);
    keys(ex, "id verdict score max_score started waived points_lost missing points_and_time "
             "kernels cases "
             "technique speed counters "
             "log ");
    keys(json_array_get(json_object_get(ex, "points_lost"), 0), "points group reason why ");
    keys(json_array_get(json_object_get(ex, "kernels"), 0),
         "name launches modelled_us bound_by limits account_us busy_us stalls_us occupancy "
         "occupancy_limit "
         "registers shared_bytes ");
    keys(json_array_get(json_object_get(ex, "cases"), 0),
         "group name number drawn verdict message ");
    json_t *limit = json_array_get(json_object_get(ex, "technique"), 0);
    keys(limit, "name metric value limit bound unit file line passed kind baseline naive progress "
                "way ");
    ck_assert_str_eq(json_string_value(json_object_get(limit, "bound")), "at most");
    ck_assert_str_eq(json_string_value(json_object_get(limit, "unit")), "");
    keys(json_object_get(ex, "speed"),
         "kind student_us interval_us solution_us baseline_us "
         "vs_solution vs_baseline counted_vs_solution ci95 of_roofline bound_by limits ");
    json_decref(o);
    result_free(&r);
}
END_TEST

/* An H200's tensor cores by mma: 132 SMs, four quarters, 4096 operations in 6 cycles, 1.98 GHz.
 * Half of the operations there, half by lanes, at 66 908: the harmonic mean. */
START_TEST(tensor_core_operations_have_their_own_roofline) {
    const struct gpu_device *d = device_find("h200");
    struct result r = example();
    struct report_style style = {.width = 0};
    struct buf out = {0};
    double there = 132 * 4 * 4096 / 6.0 * d->clock_hz, lanes = 132 * 128 * 2 * d->clock_hz;
    r.speed.tensor_flops = r.speed.flops;
    ck_assert_double_eq_tol(result_peak_flops(&r.speed, d) / there, 1, 1e-9);
    r.speed.tensor_flops = r.speed.flops / 2;
    ck_assert_double_eq_tol(result_peak_flops(&r.speed, d) * (1 / there + 1 / lanes) / 2, 1, 1e-9);
    r.speed.tensor_flops = r.speed.flops;
    report_text(&r, d, &style, &out);
    ck_assert_msg(strstr(buf_str(&out), "1 of 713 687 GFLOP/s ("), "%s", buf_str(&out));
    buf_free(&out), result_free(&r);
}
END_TEST

static json_t *gradescope(const struct result *results, unsigned n) {
    struct buf b = {0};
    report_gradescope(results, n, device_find("h200"), &b);
    json_t *o = json_loads(buf_str(&b), 0, NULL);
    ck_assert_ptr_nonnull(o);
    buf_free(&b);
    return o;
}

/* Keys of Gradescope's autograder specification. A result without a score takes the scores of all
 * with it. */
/* 2 us at a quarter of the roofline: the least is 0.5 us. The same lines stand in the report and in
 * the profile. */
START_TEST(the_limiting_resource_is_reported) {
    struct result r = example();
    r.speed.bound_by = "DRAM bandwidth, 87 % (next: L2 bandwidth, 40 %; issue slots, 20 %)";
    r.speed.low_us = 1.5, r.speed.high_us = 2.7;
    struct report_style style = {.width = 0};
    static const char *const expected[] = {
        "speed      2 µs, 0.50x the model solution's speed, 1.50x the baseline's\n",
        "bound by: DRAM bandwidth, 87 % (next: L2 bandwidth, 40 %; issue slots, 20 %)\n",
        "achieves 4 of 4350 GB/s, 1 of 66 908 GFLOP/s (", /* 8 KB and 2000 operations in 2 us */
        "25 % of the roofline: at peak rate, the problem would take 0.5 µs\n",
        "likely between 1.5 µs and 2.7 µs;"};
    for (unsigned profile = 0; profile < 2; profile++) {
        struct buf out = {0};
        if (profile) report_profile(&r, device_find("h200"), &style, false, &out);
        else report_text(&r, device_find("h200"), &style, &out);
        for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
            ck_assert_msg(strstr(buf_str(&out), expected[i]) != NULL, "'%s' is missing in\n%s",
                          expected[i], buf_str(&out));
        buf_free(&out);
    }
    result_free(&r);
}
END_TEST

START_TEST(gradescope_reports_have_the_documented_keys) {
    struct result r[] = {example(), example()};
    json_t *o = gradescope(r, 2), *tests = json_object_get(o, "tests");
    keys(o, "output output_format tests ");
    ck_assert_uint_eq(json_array_size(tests), 2);
    keys(json_array_get(tests, 0), "name score max_score status output output_format visibility ");
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(tests, 1), "score")),
                        r[1].score);
    json_decref(o);
    r[0].verdict = V_IE;
    o = gradescope(r, 2);
    keys(json_array_get(json_object_get(o, "tests"), 1),
         "name status output output_format visibility ");
    json_decref(o);
    result_free(&r[0]), result_free(&r[1]);
}
END_TEST

/* Autolab's documentation, "Autograders": the last line is an object with the scores by problem. */
START_TEST(autolab_reads_the_scores_in_the_last_line) {
    struct result r[] = {example(), example()};
    struct buf b = {0};
    for (unsigned i = 0; i < 2; i++) {
        r[1].verdict = i ? V_IE : V_AC;
        buf_clear(&b), report_autolab(&r[i], 1, device_find("h200"), &b);
        ck_assert_ptr_nonnull(strstr(buf_str(&b), r[i].ex->title));
        b.data[b.size - 1] = 0;
        json_t *o = json_loads(strrchr(buf_str(&b), '\n') + 1, 0, NULL);
        keys(o, "scores ");
        json_t *score = json_object_get(json_object_get(o, "scores"), r[i].ex->name);
        if (i) ck_assert_ptr_null(score);
        else ck_assert_double_eq(json_number_value(score), r[i].score);
        json_decref(o);
    }
    buf_free(&b), result_free(&r[0]), result_free(&r[1]);
}
END_TEST

/* ---- the command line ---- */

static bool parse(struct options *o, struct err *e, const char *line) {
    static char text[256];
    char *argv[16] = {(char *)"grader"}, *rest = NULL;
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *w = strtok_r(text, " ", &rest); w && argc < 15; w = strtok_r(NULL, " ", &rest))
        argv[argc++] = w;
    argv[argc] = NULL;
    optind = 0;
    *e = (struct err){0};
    static char *args[16]; /* the options point into it */
    memcpy(args, argv, sizeof args);
    return options_parse(o, argc, args, e);
}

START_TEST(the_command_line_is_parsed) {
    struct options o;
    struct err e;
    ck_assert(parse(
        &o, &e, "run transpose --device sim --device sim:a100 --seed 7 --format json --threads 2"));
    ck_assert_str_eq(o.command, "run");
    ck_assert_uint_eq(o.noperands, 1);
    ck_assert_uint_eq(o.ndevices, 2);
    ck_assert_str_eq(o.devices[1]->name, "a100");
    ck_assert(o.format == FORMAT_JSON && o.workers == 2);
    ck_assert(options_to_grade_options(&o, o.devices[0]).count_modelled);
    ck_assert(parse(&o, &e, "run --no-modelled-speed --case 3"));
    ck_assert(!options_to_grade_options(&o, o.devices[0]).count_modelled && o.only_case == 3);
    ck_assert(parse(&o, &e, "run --count-modelled-speed"));
    ck_assert(options_to_grade_options(&o, o.devices[0]).count_modelled);
    ck_assert(parse(&o, &e, "run"));
    ck_assert_uint_eq(strlen(o.seed), 32); /* drawn */
    static const char *const wrong[] = {"",
                                        "run --frob",
                                        "run --seed",
                                        "run --threads 0",
                                        "run --threads x",
                                        "run --format xml",
                                        "run --device sim:none"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!parse(&o, &e, wrong[i]), "%s", wrong[i]);
        ck_assert_int_eq(e.kind, ERR_INPUT);
    }
}
END_TEST

static const char *found(const char *name) {
    static char ids[1100];
    struct err e = {0};
    const struct exercise **list = book_find(name, &e);
    snprintf(ids, sizeof ids, "%s", list ? book_id(list[0]) : e.text);
    if (list && list[1]) strcat(ids, " …");
    free(list);
    return ids;
}

START_TEST(exercises_are_found_by_their_names) {
    struct err e = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
    static const char *const spellings[] = {"transpose",
                                            "coalescing/transpose",
                                            "02-coalescing/transpose",
                                            "02/transpose",
                                            "chapters/02-coalescing/transpose.cu",
                                            "./chapters/02-coalescing/transpose.cu"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        ck_assert_str_eq(found(spellings[i]), "02-coalescing/transpose");
    ck_assert(text_ends_with(found("02-coalescing"), " …"));
    ck_assert_ptr_nonnull(strstr(found("transpse"), "did you mean 02-coalescing/transpose"));
    ck_assert_ptr_nonnull(strstr(found("../../etc/passwd"), "no exercise"));
}
END_TEST

START_TEST(file_names_are_shortened_for_messages) {
    char name[128];
    static const char *const unit_rates[] = {"/x/a-b_c.1.cu", "a-b_c.1.cu", "/x/-o.cu", "none.cu",
                                             "/x/.cu",        "none.cu",    "a b.cu",   "none.cu",
                                             "x.c",           "none.cu"};
    for (size_t i = 0; i < sizeof unit_rates / sizeof *unit_rates; i += 2) {
        grade_safe_file_name(&none, unit_rates[i], name, sizeof name);
        ck_assert_str_eq(name, unit_rates[i + 1]);
    }
}
END_TEST

static void put_kernels(const char *text, struct buf *seen) {
    struct ptxas_usage k;
    while ((text = ptxas_parse_next(text, &k)))
        buf_printf(seen, "%.*s %u %u\n", (int)k.length, k.name, k.registers, k.spill_bytes);
}

/* The form of ptxas 13.0, -arch=sm_90 -v: what a kernel may call follows it, for each kernel anew.
 */
START_TEST(spills_of_a_function_count_for_its_callers) {
    static const char text[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function '_Z5twicePf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z5twicePf\n"
        "    24 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 24 bytes cumulative stack size\n"
        "ptxas info    : Compile time = 93.329 ms\n"
        "ptxas info    : Function properties for _Z4workPf\n"
        "    0 bytes stack frame, 20 bytes spill stores, 16 bytes spill loads\n"
        "ptxas info    : Function properties for _Z5otherPf\n"
        "    0 bytes stack frame, 0 bytes spill stores, 52 bytes spill loads\n"
        "ptxas info    : Compiling entry function '_Z4oncePf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z4oncePf\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 64 registers, used 0 barriers\n"
        "ptxas info    : Function properties for _Z4workPf\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
    struct buf seen = {0};
    put_kernels(text, &seen);
    ck_assert_str_eq(buf_str(&seen), "_Z5twicePf 32 100\n_Z4oncePf 64 0\n");
    buf_free(&seen);
}
END_TEST

/* A number beyond 32 bits becomes the largest one; a kernel without registers is skipped; a text
 * may end anywhere. */
START_TEST(malformed_ptxas_output_yields_no_spills) {
    struct buf seen = {0};
    put_kernels("ptxas info    : Compiling entry function 'cut' for 'sm_90'\n", &seen);
    put_kernels("ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used 9 "
                "registers\n"
                "    0 bytes stack frame, 4294967295 bytes spill stores, 8 bytes spill loads",
                &seen);
    put_kernels("", &seen);
    ck_assert_str_eq(buf_str(&seen), "k 9 4294967295\n");
    buf_free(&seen);
}
END_TEST

UNIT_SUITE(grader_parts) {
    Suite *s = suite_create("grader_parts");
    TCase *t = tcase_create("parts");
    tcase_add_test(t, hash_of_parts);
    tcase_add_test(t, the_cache_returns_what_was_stored);
    tcase_add_test(t, a_damaged_cache_entry_is_discarded);
    tcase_add_test(t, each_item_result_is_delivered_once);
    tcase_add_test(t, a_result_survives_serialization);
    tcase_add_test(t, json_reports_have_the_documented_keys);
    tcase_add_test(t, spills_of_a_function_count_for_its_callers);
    tcase_add_test(t, malformed_ptxas_output_yields_no_spills);
    tcase_add_test(t, the_limiting_resource_is_reported);
    tcase_add_test(t, tensor_core_operations_have_their_own_roofline);
    tcase_add_test(t, gradescope_reports_have_the_documented_keys);
    tcase_add_test(t, autolab_reads_the_scores_in_the_last_line);
    tcase_add_test(t, the_command_line_is_parsed);
    tcase_add_test(t, exercises_are_found_by_their_names);
    tcase_add_test(t, file_names_are_shortened_for_messages);
    suite_add_tcase(s, t);
    return s;
}
