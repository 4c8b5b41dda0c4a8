/* test_block_order.c — tests blocks that read each other's writes, in both orders in which a
 * grid may run: one block after the other, and several at once with the later ones first. */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

enum { BLOCKS = 100 };

/* `arrive`: out[block] is the number of blocks that added to the counter before it. `chain`:
 * each block waits for out[block - 1], which is 0 at first for all but the first, and sets
 * out[block] to one more. */
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry arrive(.param .u64 out, .param .u64 counter) {\n"
    ".reg .b64 %d<6>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [counter];\n"
    "atom.global.add.u32 %r0, [%d1], 1;\n"
    "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d0, %d2; st.global.u32 [%d3], "
    "%r0; ret; }\n"
    ".visible .entry chain(.param .u64 out, .param .u64 counter) {\n"
    ".reg .b64 %d<6>; .reg .b32 %r<4>; .reg .pred %p;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d0, "
    "%d2;\n"
    "mov.u32 %r0, 0; setp.eq.u32 %p, %r1, 0; @%p bra DONE;\n"
    "WAIT: ld.relaxed.gpu.global.u32 %r0, [%d3+-4]; setp.eq.u32 %p, %r0, 0; @%p bra WAIT;\n"
    "DONE: add.u32 %r0, %r0, 1; st.relaxed.gpu.global.u32 [%d3], %r0; ret; }\n";

static void run(const char *kernel, bool later_first, uint32_t *out) {
    struct kernel_rig r = rig_open_with(kernels, (struct rig_options){.sanitize = true});
    uint64_t params[] = {sim_alloc(r.sim, 4 * BLOCKS, "out"), sim_alloc(r.sim, 4, "counter")};
    sim_fill(r.sim, params[0], 0, 4 * BLOCKS);
    sim_fill(r.sim, params[1], 0, 4);
    sim_set_reverse_block_order(r.sim, later_first);
    struct sim_result result = rig_run(&r, kernel, BLOCKS, 1, params, sizeof params);
    ck_assert_msg(result.fault == SIM_FAULT_NONE && !result.nreports, "%s: fault %d, %u reports",
                  kernel, result.fault, result.nreports);
    sim_read(r.sim, params[0], out, 4 * BLOCKS);
    sim_result_free(&result);
    rig_close(&r);
}

START_TEST(blocks_run_in_order_by_default) {
    uint32_t out[BLOCKS];
    run("arrive", false, out);
    for (uint32_t i = 0; i < BLOCKS; i++) ck_assert_uint_eq(out[i], i);
}
END_TEST

START_TEST(reverse_block_order_runs_later_blocks_first) {
    uint32_t out[BLOCKS], before = 0;
    bool seen[BLOCKS] = {false};
    run("arrive", true, out);
    for (uint32_t i = 0; i < BLOCKS; i++) seen[out[i] % BLOCKS] = true;
    for (uint32_t i = 0; i < BLOCKS; i++) ck_assert_msg(seen[i], "nobody came as number %u", i);
    for (uint32_t i = 0; i < BLOCKS; i++) before += i > 0 && out[i] > out[i - 1];
    ck_assert_msg(before < BLOCKS / 4, "%u of %d blocks came after the one before them", before,
                  BLOCKS);
}
END_TEST

START_TEST(chained_blocks_progress_in_either_order) {
    uint32_t out[BLOCKS];
    for (int later = 0; later < 2; later++) {
        run("chain", later, out);
        for (uint32_t i = 0; i < BLOCKS; i++) ck_assert_uint_eq(out[i], i + 1);
    }
}
END_TEST

UNIT_SUITE(block_order) {
    Suite *s = suite_create("block_order");
    TCase *t = tcase_create("order_of_blocks");
    tcase_add_test(t, blocks_run_in_order_by_default);
    tcase_add_test(t, reverse_block_order_runs_later_blocks_first);
    tcase_add_test(t, chained_blocks_progress_in_either_order);
    suite_add_tcase(s, t);
    return s;
}
