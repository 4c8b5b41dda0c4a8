/* test_timing_clusters.c — tests the time of operations between the blocks of a cluster against
 * an H100's (docs/results/h100/clusters.tsv). */
#include "grader/tests/unit/timing_spec.h"

static const char cluster_barrier_code[] =
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/* 256 in a row, of blocks of 1 to 32 warps: 786, 863, 1272 and 1344 cycles each; with a relaxed
 * arrival 82 to 132. */
START_TEST(cluster_barriers_match_an_h100) {
    static const struct {
        unsigned threads;
        double cycles, relaxed;
    } measured[] = {{32, 786, 82}, {256, 863, 92}, {512, 1272, 101}, {1024, 1344, 132}};
    for (unsigned i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct kernel_spec s = {
            .device = "h100", .blocks = SMS, .threads = measured[i].threads, .n = 64};
        spec_add(&s, "%s", cluster_barrier_code);
        ck_about(spec_cycles(&s), 64 * measured[i].cycles, 0.1);
        buf_free(&s.body);
        struct kernel_spec relaxed_spec = {
            .device = "h100", .blocks = SMS, .threads = measured[i].threads, .n = 64};
        spec_add(&relaxed_spec,
                 "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n");
        ck_about(spec_cycles(&relaxed_spec), 64 * measured[i].relaxed, 0.25);
        buf_free(&relaxed_spec.body);
    }
}
END_TEST

/* A chain of 150 additions between arrival and wait, 600 cycles, lies within the 863 of the
 * barrier. */
START_TEST(work_between_arrive_and_wait_hides_a_cluster_barrier) {
    struct kernel_spec s = {.device = "h100", .blocks = SMS, .threads = 256, .n = 16};
    spec_add(&s, "barrier.cluster.arrive.aligned;\n");
    for (unsigned i = 0; i < 150; i++) spec_add(&s, "fma.rn.f32 %%f0, %%f0, %%f1, %%f2;\n");
    spec_add(&s, "barrier.cluster.wait.aligned;\n");
    ck_about(spec_cycles(&s), 16 * 863, 0.1);
    buf_free(&s.body);
}
END_TEST

/* `%d20`: where the next block of the cluster has `mem`; lanes `stride` bytes apart. Two barriers
 * in all. */
static struct kernel_spec remote(unsigned threads, unsigned stride, unsigned times,
                                 const char *access) {
    struct kernel_spec s = {.device = "h100",
                            .blocks = 120,
                            .threads = threads,
                            .n = 1,
                            .dynamic_shared = 100000,
                            .cluster = 8};
    spec_add(
        &s,
        "mov.u32 %%r20, 0;\nmad.lo.s32 %%r24, %%r5, %u, %%r7;\nst.shared.u32 [%%r24], %%r20;\n%s",
        stride, cluster_barrier_code);
    spec_add(
        &s,
        "mov.u32 %%r21, %%cluster_ctarank;\nadd.s32 %%r21, %%r21, 1;\nand.b32 %%r21, %%r21, 7;\n"
        "mapa.shared::cluster.u32 %%r22, %%r24, %%r21;\n");
    for (unsigned i = 0; i < times; i++) spec_add(&s, "%s", access);
    spec_add(&s, "%s", cluster_barrier_code);
    return s;
}

static double cycles_each(unsigned threads, unsigned stride, const char *access) {
    struct kernel_spec none = remote(threads, stride, 0, access),
                       s = remote(threads, stride, 200, access);
    double cycles = (spec_cycles(&s) - spec_cycles(&none)) / 200;
    buf_free(&none.body), buf_free(&s.body);
    return cycles;
}

/* A chain of loads: 207 cycles each. */
START_TEST(dsmem_latency_matches_an_h100) {
    double load =
        cycles_each(32, 4, "ld.shared::cluster.u32 %r23, [%r22];\nadd.u32 %r22, %r22, %r23;\n");
    ck_about(load, 207, 0.1);
}
END_TEST

/* An SM's 32 warps, each: neighbouring words 8.9 cycles to store, words of sectors of their own 63;
 * 75 to load; random ones 123 to add to. */
START_TEST(dsmem_throughput_matches_an_h100) {
    static const char put[] = "st.shared::cluster.u32 [%r22], %r5;\n",
                      add[] = "red.shared::cluster.add.u32 [%r22], %r5;\n",
                      get[] = "ld.shared::cluster.u32 %r23, [%r22];\nadd.u32 %r25, %r25, %r23;\n";
    double packed = cycles_each(1024, 4, put) / 32, apart = cycles_each(1024, 32, put) / 32;
    double loads = cycles_each(1024, 32, get) / 32, adds = cycles_each(1024, 32, add) / 32;
    ck_about(packed, 8.9, 0.2);
    ck_about(apart, 63, 0.2);
    ck_about(loads, 75, 0.2);
    ck_about(adds, 123, 0.2);
}
END_TEST

/* Blocks that take an SM each: 15 clusters of 8 are there at one time, the 16th has to wait. */
START_TEST(clusters_that_do_not_fit_run_in_a_second_wave) {
    struct kernel_spec fit = fma_spec(16, 1024);
    fit.device = "h100", fit.dynamic_shared = 200000, fit.blocks = 120, fit.cluster = 8;
    struct kernel_spec more = fit, pairs = fit;
    more.blocks = 128, pairs.blocks = 132, pairs.cluster = 2;
    ck_about(spec_cycles(&more), 2 * spec_cycles(&fit), 0.05);
    ck_about(spec_cycles(&pairs), spec_cycles(&fit), 0.05);
    buf_free(&fit.body);
}
END_TEST

UNIT_SUITE(timing_clusters) {
    Suite *s = suite_create("timing_clusters");
    TCase *c = tcase_create("clusters");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, cluster_barriers_match_an_h100);
    tcase_add_test(c, work_between_arrive_and_wait_hides_a_cluster_barrier);
    tcase_add_test(c, dsmem_latency_matches_an_h100);
    tcase_add_test(c, dsmem_throughput_matches_an_h100);
    tcase_add_test(c, clusters_that_do_not_fit_run_in_a_second_wave);
    suite_add_tcase(s, c);
    return s;
}
