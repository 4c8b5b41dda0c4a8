/* test_fatbin.c — tests reading PTX from fat binaries: three that nvcc 13 wrote (of one kernel
 * for compute_90, with --no-compress and with --compress-mode=default and =speed), some
 * assembled here, and damaged ones. */
#include "common/file.h"
#include "grader/sim/ptx/ptx.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static struct arena arena;

static void release(void) { arena_free(&arena); }

static void add_bytes(struct buf *b, uint64_t value, unsigned bytes) { buf_add(b, &value, bytes); }

/* An entry as nvcc 13 writes it, with the text as it is given. */
static void add_entry(struct buf *b, unsigned kind, unsigned arch, uint64_t flags,
                      const void *payload, size_t n, uint64_t compressed, uint64_t text_bytes) {
    add_bytes(b, kind, 2), add_bytes(b, 0x101, 2), add_bytes(b, 64, 4), add_bytes(b, n, 8);
    add_bytes(b, compressed, 4), add_bytes(b, 0x40, 4), add_bytes(b, 0x90000, 4),
        add_bytes(b, arch, 4);
    add_bytes(b, 0, 8), add_bytes(b, 0x11 | flags, 8), add_bytes(b, 0, 8),
        add_bytes(b, text_bytes, 8);
    buf_add(b, payload, n);
}

static void add_text(struct buf *b, unsigned arch, uint64_t flags, const char *text) {
    add_entry(b, 1, arch, flags, text, strlen(text), 0, 0);
}

/* The text for max_sm 90, or NULL with the error. */
static const char *extract(const struct buf *entries, struct err *e) {
    struct buf image = {0};
    size_t n = 0;
    add_bytes(&image, 0xba55ed50, 4), add_bytes(&image, 1, 2), add_bytes(&image, 16, 2),
        add_bytes(&image, entries->size, 8);
    buf_add(&image, entries->data, entries->size);
    *e = (struct err){.kind = ERR_NONE};
    const char *text = ptx_from_fatbin(&arena, image.data, image.size, 90, &n, e);
    if (text) ck_assert_uint_eq(n, strlen(text));
    ck_assert_int_eq(!text, e->kind != ERR_NONE);
    buf_free(&image);
    return text;
}

static const char *const made_by_nvcc[] = {"grader/tests/ptx/scale-plain.fatbin",
                                           "grader/tests/ptx/scale-zstd.fatbin",
                                           "grader/tests/ptx/scale-lz4.fatbin"};

static const struct ptx_module *module_of(const char *path) {
    struct buf image = {0};
    struct err e = {0};
    size_t n;
    ck_assert_msg(file_read(path, 1 << 20, &image, &e), "%s", e.text);
    const char *text = ptx_from_fatbin(&arena, image.data, image.size, 90, &n, &e);
    buf_free(&image);
    ck_assert_msg(text != NULL, "%s", e.text);
    const struct ptx_module *m = ptx_parse(&arena, text, n, &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    return m;
}

/* `__global__ void k(int *o) { o[threadIdx.x] = threadIdx.x * 3; }` */
START_TEST(fatbins_from_nvcc_are_read) {
    const struct ptx_func *f = ptx_module_func(module_of(made_by_nvcc[_i]), "_Z1kPi");
    ck_assert(f && f->is_entry && f->nparams == 1);
    ck_assert_str_eq(f->insns[f->ninsns - 1].opcode, "ret");
}
END_TEST

static const struct {
    unsigned archs[4];
    unsigned expected;
} choices[] = {
    {{75, 90, 80}, 90}, {{100, 80, 75}, 80}, {{120, 100}, 100}, {{89}, 89}, {{100, 90, 103}, 90}};

START_TEST(the_newest_usable_architecture_is_chosen) {
    struct buf entries = {0};
    struct err e;
    for (int i = 0; i < 4 && choices[_i].archs[i]; i++) {
        char text[32];
        snprintf(text, sizeof text, ".target sm_%u", choices[_i].archs[i]);
        add_text(&entries, choices[_i].archs[i], 0, text);
        add_entry(&entries, 2, 90, 0,
                  "\x7f"
                  "ELF",
                  4, 0, 0);
    }
    const char *text = extract(&entries, &e);
    ck_assert_msg(text != NULL, "%s", e.text);
    ck_assert_uint_eq((unsigned)atoi(text + strlen(".target sm_")), choices[_i].expected);
    buf_free(&entries);
}
END_TEST

/* compute_90a uses what sm_90 alone has; the plain text is the safer one. */
START_TEST(generic_code_is_preferred_to_arch_specific) {
    for (int first = 0; first < 2; first++) {
        struct buf entries = {0};
        struct err e;
        add_text(&entries, 90, first ? 0x100000 : 0, first ? "specific" : "plain");
        add_text(&entries, 90, first ? 0 : 0x100000, first ? "plain" : "specific");
        ck_assert_str_eq(extract(&entries, &e), "plain");
        buf_free(&entries);
    }
}
END_TEST

START_TEST(a_fatbin_without_ptx_is_rejected) {
    struct buf entries = {0};
    struct err e;
    add_entry(&entries, 2, 86, 0,
              "\x7f"
              "ELF",
              4, 0, 0);
    ck_assert_ptr_null(extract(&entries, &e));
    ck_assert_int_eq(e.kind, ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(e.text, "sm_86"));
    ck_assert_ptr_nonnull(strstr(e.text, "and no PTX"));
    ck_assert_ptr_nonnull(strstr(e.text, "-gencode"));
    buf_clear(&entries);
    ck_assert_ptr_null(extract(&entries, &e));
    ck_assert_int_eq(e.kind, ERR_INPUT);
    buf_free(&entries);
}
END_TEST

static const struct {
    const char *name;
    uint64_t flags, compressed, text_bytes; /* the real sizes are 0 */
    enum err_kind kind;
} corrupted_headers[] = {
    {"as it is", 0x8000, 0, 0, ERR_NONE},
    {"longer than announced", 0x8000, 0, 99, ERR_INPUT},
    {"shorter than announced", 0x8000, 0, 101, ERR_INPUT},
    {"past the entry", 0x8000, 1 << 20, 0, ERR_INPUT},
    {"huge", 0x8000, 0, 1ull << 62, ERR_LIMIT},
    {"LZ4 that is none", 0x2000, 0, 0, ERR_INPUT},
    {"compressed in no known way", 0x4000, 0, 0, ERR_UNSUPPORTED},
};

START_TEST(forged_compression_headers_are_rejected) {
    char text[100], packed[200];
    memset(text, 'x', sizeof text);
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    ck_assert(!ZSTD_isError(n));
    struct buf entries = {0};
    struct err e;
    add_entry(&entries, 1, 90, corrupted_headers[_i].flags, packed, n,
              corrupted_headers[_i].compressed ? corrupted_headers[_i].compressed : n,
              corrupted_headers[_i].text_bytes ? corrupted_headers[_i].text_bytes : sizeof text);
    const char *out = extract(&entries, &e);
    ck_assert_msg(e.kind == corrupted_headers[_i].kind, "%s: %s", corrupted_headers[_i].name,
                  e.text);
    if (out) ck_assert(strlen(out) == sizeof text && !memcmp(out, text, sizeof text));
    buf_free(&entries);
}
END_TEST

START_TEST(input_that_is_no_fatbin_is_rejected) {
    struct err e = {0};
    size_t n;
    ck_assert_ptr_null(ptx_from_fatbin(&arena, "P", 1, 90, &n, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "not a fat binary"));
    e.kind = ERR_NONE;
    ck_assert_ptr_null(ptx_from_fatbin(&arena, ".version 9.0\n.target", 20, 90, &n, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "not a fat binary"));
}
END_TEST

/* Each prefix, and each byte set to each of a few values, must give a result or an error,
 * without a read out of bounds (sanitizers). */
START_TEST(damaged_fatbins_cause_no_invalid_reads) {
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    struct buf image = {0};
    struct err e = {0};
    ck_assert(file_read(made_by_nvcc[_i], 1 << 20, &image, &e));
    for (size_t n = 0; n < image.size; n++) {
        char *exact = xmalloc(n);
        size_t actual = 0;
        memcpy(exact, image.data, n);
        e.kind = ERR_NONE;
        ck_assert_ptr_null(ptx_from_fatbin(&arena, exact, n, 90, &actual, &e));
        ck_assert_int_ne(e.kind, ERR_NONE);
        free(exact);
    }
    for (size_t at = 0; at < image.size * sizeof bytes; at++) {
        char *exact = xmalloc(image.size);
        size_t actual = 0;
        memcpy(exact, image.data, image.size);
        exact[at / sizeof bytes] = (char)bytes[at % sizeof bytes];
        e.kind = ERR_NONE;
        const char *text = ptx_from_fatbin(&arena, exact, image.size, 90, &actual, &e);
        ck_assert_int_eq(!text, e.kind != ERR_NONE);
        arena_free(&arena);
        free(exact);
    }
    buf_free(&image);
}
END_TEST

UNIT_SUITE(fatbin) {
    Suite *s = suite_create("fatbin");
    TCase *c = tcase_create("fat binaries");
    tcase_add_checked_fixture(c, NULL, release);
    tcase_add_loop_test(c, fatbins_from_nvcc_are_read, 0, 3);
    tcase_add_loop_test(c, the_newest_usable_architecture_is_chosen, 0,
                        (int)(sizeof choices / sizeof *choices));
    tcase_add_test(c, generic_code_is_preferred_to_arch_specific);
    tcase_add_test(c, a_fatbin_without_ptx_is_rejected);
    tcase_add_loop_test(c, forged_compression_headers_are_rejected, 0,
                        (int)(sizeof corrupted_headers / sizeof *corrupted_headers));
    tcase_add_test(c, input_that_is_no_fatbin_is_rejected);
    tcase_add_loop_test(c, damaged_fatbins_cause_no_invalid_reads, 0, 3);
    suite_add_tcase(s, c);
    return s;
}
