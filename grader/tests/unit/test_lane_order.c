/* test_lane_order.c — tests which lanes a release and an acquire order: all lanes of block 0 store
 * a word, one of them passes a flag, and all lanes of block 1 use the words. */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define FENCE   "fence.acq_rel.gpu;\n"
#define STORE   "st.relaxed.gpu.global.u32 [%flag], 1;\n"
#define RELEASE "st.release.gpu.global.u32 [%flag], 1;\n"
#define COUNT   "red.release.gpu.global.add.u32 [%flag], 1;\n"
#define ATOM    "atom.acq_rel.gpu.global.add.u32 %got, [%flag], 1;\n"
#define ACQUIRE "ld.acquire.gpu.global.u32 %seen, [%flag];\n"
#define LOAD    "ld.relaxed.gpu.global.u32 %seen, [%flag];\n"
#define SHUFFLE "shfl.sync.idx.b32 %got, %lane, 0, 31, -1;\n"
#define SYNC    "bar.warp.sync -1;\n"

#define NO_SYNC_BEFORE_RELEASE "no __syncwarp() between that and the store of the flag"
#define NO_SYNC_AFTER_ACQUIRE  "no __syncwarp() between line"

/* The code between the steps, in their order, and what the report must contain; NULL: no report. */
static const struct {
    const char *before_release, *release, *acquire, *after_acquire, *report;
} cases[] = {
    {SYNC, RELEASE, ACQUIRE, SYNC, NULL},
    {SYNC, FENCE STORE, ACQUIRE, SYNC, NULL},
    {SYNC, COUNT, ACQUIRE, SYNC, NULL},
    {SYNC, ATOM, ACQUIRE, SYNC, NULL},
    {SYNC, RELEASE, LOAD, SYNC FENCE, NULL},
    {FENCE SYNC, STORE, ACQUIRE, SYNC, NULL},
    {"bar.sync 0;\n", RELEASE, ACQUIRE, "bar.sync 0;\n", NULL},
    {"bar.sync 1, 32;\n", RELEASE, ACQUIRE, "bar.sync 1, 32;\n", NULL},
    {"", RELEASE, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {"", FENCE STORE, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {"", COUNT, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {"", ATOM, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {FENCE, STORE, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {SHUFFLE, RELEASE, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {"@!%other bar.warp.sync 0x20;\n", RELEASE, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {"@%low bar.warp.sync 0xff;\n", RELEASE, ACQUIRE, SYNC, NO_SYNC_BEFORE_RELEASE},
    {SYNC "@%low bar.warp.sync 0xff;\n", RELEASE, ACQUIRE, SYNC, NULL},
    {SYNC, RELEASE, ACQUIRE, "", NO_SYNC_AFTER_ACQUIRE},
    {SYNC, RELEASE, ACQUIRE, SHUFFLE, NO_SYNC_AFTER_ACQUIRE},
    {SYNC, RELEASE, LOAD, FENCE, NO_SYNC_AFTER_ACQUIRE},
};
enum { CASES = sizeof cases / sizeof *cases };

static char *kernel_of(struct arena *a, int i) {
    return rig_printf(
        a,
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 words, .param .u64 flag, .param .u64 out) {\n"
        ".reg .b64 %%word, %%flag, %%out, %%at; .reg .b32 %%lane, %%block, %%seen, %%got;\n"
        ".reg .pred %%second, %%other, %%low, %%wait;\n"
        "ld.param.u64 %%word, [words]; ld.param.u64 %%flag, [flag]; ld.param.u64 %%out, [out];\n"
        "mov.u32 %%lane, %%tid.x; mov.u32 %%block, %%ctaid.x; mul.wide.u32 %%at, %%lane, 4;\n"
        "add.u64 %%word, %%word, %%at; add.u64 %%out, %%out, %%at;\n"
        "setp.eq.u32 %%second, %%block, 1; setp.ne.u32 %%other, %%lane, 5;\n"
        "setp.lt.u32 %%low, %%lane, 8;\n"
        "@%%second bra RECEIVE;\n"
        "st.global.u32 [%%word], %%lane;\n%s@%%other bra SENT;\n%sSENT: ret;\n"
        "RECEIVE: @%%other bra RECEIVED;\n"
        "WAIT: %ssetp.eq.u32 %%wait, %%seen, 0; @%%wait bra WAIT;\n"
        "RECEIVED: %sld.global.u32 %%got, [%%word]; st.global.u32 [%%out], %%got; ret; }\n",
        cases[i].before_release, cases[i].release, cases[i].acquire, cases[i].after_acquire);
}

START_TEST(lanes_are_ordered_by_barriers_only) {
    struct arena a = {0};
    struct kernel_rig r = rig_open_with(kernel_of(&a, _i), (struct rig_options){.sanitize = true});
    uint64_t params[] = {sim_alloc(r.sim, 128, "words"), sim_alloc(r.sim, 4, "flag"),
                         sim_alloc(r.sim, 128, "out")};
    sim_fill(r.sim, params[1], 0, 4);
    struct sim_result got = rig_run(&r, "k", 2, 32, params, sizeof params);
    const char *text = got.nreports ? got.reports[0].text : "";
    ck_assert_msg(cases[_i].report ? strstr(text, cases[_i].report) != NULL : !got.nreports,
                  "case %d: fault %d, \"%s\"", _i, got.fault, text);
    sim_result_free(&got);
    rig_close(&r);
    arena_free(&a);
}
END_TEST

UNIT_SUITE(lane_order) {
    Suite *s = suite_create("lane_order");
    TCase *t = tcase_create("messages");
    tcase_add_loop_test(t, lanes_are_ordered_by_barriers_only, 0, CASES);
    suite_add_tcase(s, t);
    return s;
}
