/* test_limits.c — tests sizes that a program requests: PTX's own limits hold, and sums of sizes
 * near 2^31 and 2^32 don't wrap. The values are derived by hand, the limits come from the PTX
 * manual. */
#include "grader/sim/device.h"
#include "grader/sim/sim.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY      PTX_HEADER ".visible .entry k() {\n"

static const struct {
    const char *ptx, *expected_text; /* NULL = it loads */
} texts[] = {
    {PTX_HEADER ".visible .entry k(.param .align 4 .b8 a[32764]) { ret; }", NULL},
    {PTX_HEADER ".visible .entry k(.param .align 4 .b8 a[32768]) { ret; }",
     "more than 32764 bytes of parameters"},
    {PTX_HEADER ".visible .entry k(.param .b8 a[2147483648], .param .b8 b[2147483648]) { ret; }",
     "bytes of parameters"},
    {PTX_HEADER ".visible .entry k(.param .b8 a[2147483647], .param .align 8 .b8 b[8]) { ret; }",
     "bytes of parameters"},
    {PTX_HEADER ".visible .entry k(.param .b8 a[4294967296]) { ret; }", "array size"},
    {ENTRY ".local .align 4 .b8 a[524288];\nret;\n}", NULL},
    {ENTRY ".local .align 4 .b8 a[524288];\n.local .b8 b[4];\nret;\n}",
     "more than 524288 bytes of local memory"},
    {ENTRY ".local .b8 a[2147483648];\n.local .b8 b[2147483648];\nret;\n}",
     "bytes of local memory"},
    {ENTRY ".shared .b8 a[2147483648];\n.shared .b8 b[2147483648];\nret;\n}",
     "bytes of shared memory"},
    {PTX_HEADER
     ".shared .b8 a[2147483648];\n.shared .b8 b[2147483648];\n.visible .entry k() { ret; }",
     "bytes of shared memory"},
    {PTX_HEADER
     ".func f(.param .b8 a[2147483648], .param .b8 b[2147483648]) { ret; }\n.visible .entry "
     "k() { ret; }",
     "registers and parameters of calls"},
};

START_TEST(sizes_beyond_the_limits_are_rejected) {
    struct err e = {0};
    struct sim *s = sim_open(&(struct sim_options){.device = device_find("h200")}, &e);
    struct sim_module *m = sim_load(s, texts[_i].ptx, strlen(texts[_i].ptx), &e);
    if (texts[_i].expected_text)
        ck_assert_msg(!m && strstr(e.text, texts[_i].expected_text), "%s: %s", texts[_i].ptx,
                      m ? "it loads" : e.text);
    else ck_assert_msg(m != NULL, "%s", e.text);
    sim_close(s);
}
END_TEST

UNIT_SUITE(limits) {
    Suite *s = suite_create("limits");
    TCase *t = tcase_create("sizes");
    tcase_add_loop_test(t, sizes_beyond_the_limits_are_rejected, 0, sizeof texts / sizeof *texts);
    suite_add_tcase(s, t);
    return s;
}
