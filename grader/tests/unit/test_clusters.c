/* test_clusters.c — tests clusters: which blocks form one, which block an address belongs to,
 * and what an access to another block's shared memory counts and costs. The expected values are
 * derived by hand. */
#include "grader/sim/timing/timing.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"

/* Clusters of 2 × 1 × 2 blocks in a grid of 4 × 2 × 2. Each block leaves its rank and its cluster's
 * number. */
static const char rank_kernel[] = PTX_HEADER
    ".visible .entry k(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 2, 1, 2\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %d<4>; .reg .pred %p<2>;\nld.param.u64 %d0, [out];\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ctaid.z;\nmad.lo.u32 %r3, %r2, "
    "2, %r1;\n"
    "mad.lo.u32 %r3, %r3, 4, %r0;\nmad.wide.u32 %d1, %r3, 16, %d0;\n"
    "mov.u32 %r4, %cluster_ctarank;\nmov.u32 %r5, %clusterid.x;\nmov.u32 %r6, %clusterid.y;\n"
    "mad.lo.u32 %r5, %r6, 10, %r5;\nmov.u32 %r7, %cluster_nctarank;\nmov.u32 %r8, %nclusterid.x;\n"
    "mov.u32 %r9, %nclusterid.z;\nmad.lo.u32 %r8, %r8, 10, %r9;\nmov.pred %p1, "
    "%is_explicit_cluster;\n"
    "@!%p1 mov.u32 %r7, 0;\nst.global.v4.u32 [%d1], {%r4, %r5, %r7, %r8};\nret;\n}\n";

START_TEST(cluster_ranks_follow_the_grid) {
    struct kernel_rig r = rig_open(rank_kernel);
    uint64_t out = sim_alloc(r.sim, 16 * 16, "out");
    uint32_t actual[16][4];
    struct sim_launch l = {.kernel = sim_find_kernel(r.module, "k"),
                           .grid = {4, 2, 2},
                           .block = {1, 1, 1},
                           .params = &out,
                           .param_bytes = 8};
    struct sim_result result;
    struct err e = {0};
    ck_assert_ptr_null(sim_check_launch(r.sim, &l, &e));
    sim_launch(r.sim, &l, &result);
    ck_assert_int_eq(result.fault, SIM_FAULT_NONE);
    sim_read(r.sim, out, actual, sizeof actual);
    for (unsigned i = 0; i < 16; i++) {
        unsigned x = i % 4, y = i / 4 % 2, z = i / 8;
        ck_assert_uint_eq(actual[i][0], x % 2 + 2 * (z % 2));
        ck_assert_uint_eq(actual[i][1], y * 10 + x / 2);
        ck_assert_uint_eq(actual[i][2], 4);
        ck_assert_uint_eq(actual[i][3], 2 * 10 + 1);
    }
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Two blocks of 2 warps; each thread reads the word of the other block's thread of the same number,
 * stores it one block further, and adds there: lines 20, 21 and 22. */
static const char exchange[] = PTX_HEADER
    ".visible .entry k(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %d<4>;\n.shared .align 128 .b8 s[768];\n"
    ".loc 1 10 0\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.u32 %r2, s;\nadd.u32 %r2, "
    "%r2, %r1;\n"
    "mov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r4, %r3, 1000, %r0;\nst.shared.u32 [%r2], %r4;\n"
    "mov.u32 %r9, 0;\nst.shared.u32 [%r2+512], %r9;\n"
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nmov.u32 %r5, "
    "%cluster_ctarank;\nxor.b32 %r5, "
    "%r5, 1;\n"
    "mapa.shared::cluster.u32 %r6, %r2, %r5;\n"
    ".loc 1 20 0\nld.shared::cluster.u32 %r7, [%r6];\n"
    ".loc 1 21 0\nst.shared::cluster.u32 [%r6+256], %r7;\n"
    ".loc 1 22 0\nred.shared::cluster.add.u32 [%r6+512], %r0;\n"
    ".loc 1 30 0\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
    "ld.shared.u32 %r7, [%r2+256];\nld.shared.u32 %r8, [%r2+512];\nadd.u32 %r7, %r7, %r8;\n"
    "ld.param.u64 %d0, [out];\nmad.lo.u32 %r8, %r3, 64, %r0;\nmad.wide.u32 %d1, %r8, 4, %d0;\n"
    "st.global.u32 [%d1], %r7;\nret;\n}\n";

static struct sim_counters run_exchange(unsigned workers, uint32_t out[512]) {
    struct kernel_rig r =
        rig_open_with(exchange, (struct rig_options){.workers = workers, .sanitize = workers == 1});
    uint64_t at = sim_alloc(r.sim, 2048, "out");
    struct sim_result result = rig_run(&r, "k", 8, 64, &at, sizeof at);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    sim_read(r.sim, at, out, 2048);
    struct sim_counters total = result.counters, load = rig_line(&result, 20),
                        store = rig_line(&result, 21), atomic = rig_line(&result, 22);
    /* 8 blocks of 2 warps: 16 requests of 32 words in a row, which are 4 sectors each. */
    ck_assert_uint_eq(load.cluster_load_requests, 16);
    ck_assert_uint_eq(load.cluster_sectors, 64);
    ck_assert_uint_eq(load.cluster_sectors_ideal, 64);
    ck_assert_uint_eq(store.cluster_store_requests, 16);
    ck_assert_uint_eq(atomic.cluster_atomic_requests, 16);
    ck_assert_uint_eq(atomic.shared_atomic_operations, 512); /* 16 requests of 32 lanes… */
    ck_assert_uint_eq(atomic.shared_atomic_serialized, 16);  /* …on a word each */
    ck_assert_uint_eq(atomic.shared_atomic_requests, 0);
    ck_assert_uint_eq(total.cluster_sectors, 192);
    ck_assert_uint_eq(load.shared_load_requests, 0);
    ck_assert_uint_eq(total.shared_load_requests, 32);  /* line 30, twice */
    ck_assert_uint_eq(total.shared_store_requests, 32); /* line 10, twice */
    sim_result_free(&result);
    rig_close(&r);
    return total;
}

START_TEST(distributed_shared_memory_exchanges_values) {
    static const unsigned workers[] = {1, 2, 4};
    struct sim_counters first = {0}, c;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t out[512];
        c = run_exchange(workers[k], out);
        /* What this thread's own block held comes back: block × 1000 + t, from its twin; and t was
         * added once. */
        for (unsigned i = 0; i < 512; i++) ck_assert_uint_eq(out[i], i / 64 * 1000 + 2 * (i % 64));
        if (!k) first = c;
        ck_assert_mem_eq(&c, &first, sizeof c);
    }
}
END_TEST

/* One warp a block, clusters of 4. Line 20: lane l writes word l / 4 of block l % 4, 8 words of
 * each block's banks. Line 21: all write to the next block, 32 words of one bank; its own writes
 * none. */
static const char spread[] = PTX_HEADER
    ".visible .entry k(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 4, 1, 1\n{\n"
    ".reg .b32 %r<20>;\n.shared .align 128 .b8 s[8192];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, "
    "%cluster_ctarank;\n"
    "mov.u32 %r2, s;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
    "shr.u32 %r3, %r0, 2;\nmad.lo.u32 %r3, %r1, 8, %r3;\nshl.b32 %r3, %r3, 2;\nadd.u32 %r3, %r2, "
    "%r3;\n"
    "and.b32 %r4, %r0, 3;\nmapa.shared::cluster.u32 %r5, %r3, %r4;\n"
    ".loc 1 20 0\nst.shared::cluster.u32 [%r5], %r0;\n"
    "shl.b32 %r6, %r0, 7;\nadd.u32 %r6, %r6, %r2;\nadd.u32 %r7, %r1, 1;\nand.b32 %r7, %r7, 3;\n"
    "mapa.shared::cluster.u32 %r8, %r6, %r7;\n"
    ".loc 1 21 0\nst.shared::cluster.u32 [%r8+4096], %r0;\n"
    ".loc 1 30 0\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n}\n";

START_TEST(each_block_of_a_cluster_has_its_own_banks) {
    struct kernel_rig r = rig_open(spread);
    uint64_t at = sim_alloc(r.sim, 64, "out");
    struct sim_result result = rig_run(&r, "k", 8, 32, &at, sizeof at);
    ck_assert_int_eq(result.fault, SIM_FAULT_NONE);
    ck_assert_uint_eq(rig_line(&result, 20).shared_store_bank_conflicts, 0);
    ck_assert_uint_eq(rig_line(&result, 21).shared_store_bank_conflicts, 8 * 31);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Clusters whose shape the launch sets, because the kernel has none. */
START_TEST(invalid_cluster_shapes_are_rejected) {
    struct kernel_rig r = rig_open(rank_kernel);
    uint64_t out = sim_alloc(r.sim, 16 * 16, "out");
    struct sim_launch l = {.kernel = sim_find_kernel(r.module, "k"),
                           .block = {1, 1, 1},
                           .params = &out,
                           .param_bytes = 8};
    static const struct {
        uint32_t grid[3], cluster[3];
        const char *expected;
    } cases[] = {
        {{4, 2, 2}, {0, 0, 0}, NULL},
        {{4, 2, 2}, {2, 1, 2}, NULL},
        {{4, 2, 2}, {2, 2, 1}, "cudaErrorInvalidClusterSize"}, /* not what it was compiled for */
        {{3, 2, 2}, {0, 0, 0}, "cudaErrorInvalidClusterSize"}, /* a grid that cannot be divided */
        {{4, 2, 1}, {0, 0, 0}, "cudaErrorInvalidClusterSize"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        memcpy(l.grid, cases[i].grid, sizeof l.grid);
        memcpy(l.cluster_dims, cases[i].cluster, sizeof l.cluster_dims);
        const char *actual = sim_check_launch(r.sim, &l, &e);
        ck_assert_msg(!actual == !cases[i].expected &&
                          (!actual || !strcmp(actual, cases[i].expected)),
                      "case %u: %s", i, actual ? actual : "none");
    }
    rig_close(&r);
    r = rig_open_with(rank_kernel, (struct rig_options){.device = "a100"});
    struct err e = {0};
    l.kernel = sim_find_kernel(r.module, "k");
    memcpy(l.grid, cases[0].grid, sizeof l.grid);
    memset(l.cluster_dims, 0, sizeof l.cluster_dims);
    ck_assert_str_eq(sim_check_launch(r.sim, &l, &e), "cudaErrorInvalidClusterSize");
    rig_close(&r);
}
END_TEST

UNIT_SUITE(clusters) {
    Suite *suite = suite_create("clusters");
    TCase *tc = tcase_create("clusters");
    tcase_add_test(tc, cluster_ranks_follow_the_grid);
    tcase_add_test(tc, distributed_shared_memory_exchanges_values);
    tcase_add_test(tc, each_block_of_a_cluster_has_its_own_banks);
    tcase_add_test(tc, invalid_cluster_shapes_are_rejected);
    suite_add_tcase(suite, tc);
    return suite;
}
