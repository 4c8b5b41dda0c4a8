/* test_timing.c — tests each term of the time model with a kernel that isolates it. The expected
 * times are derived by hand from the device's row: clocks, lanes, latencies and bandwidths. */
#include "grader/tests/unit/timing_spec.h"

/* ---- issue, units, latency ---- */

START_TEST(fp32_throughput_matches_the_device) {
    struct kernel_spec s = fma_spec(16, 1024);
    ck_about(spec_cycles(&s), 32 * 50 * (64 + 3) / 4.0, 0.1); /* one a clock and scheduler */
    struct kernel_spec v = fma_spec(16, 1024);
    v.device = "v100", v.blocks = 80; /* 64 lanes: every second clock */
    ck_about(spec_cycles(&v), 32 * 50 * 64 / 2.0, 0.1);
    struct time_estimate t = spec_model(&v);
    ck_bound(t, "FMA pipe");
    ck_assert(spec_cycles_disabling(&v, TERM_BIT(PIPES)) < 0.6 * spec_cycles(&v));
    buf_free(&s.body), buf_free(&v.body);
}
END_TEST

START_TEST(dependent_fmas_take_their_latency) {
    struct kernel_spec s = fma_spec(1, 32);
    ck_about(spec_cycles(&s), 50 * 64 * 4 + 200, 0.05); /* a chain: four cycles each */
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "latency of arithmetic");
    ck_about(spec_cycles_disabling(&s, TERM_BIT(LATENCY)), 50 * 67, 0.1);
    buf_free(&s.body);
}
END_TEST

START_TEST(full_issue_slots_bound_the_time) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 50};
    for (unsigned i = 0; i < 40; i++)
        spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i % 16, i % 16);
    for (unsigned i = 0; i < 24; i++)
        spec_add(&s, "add.s32 %%r%u, %%r%u, 3;\n", 20 + i % 12, 20 + i % 12);
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "issue slots");
    ck_about(spec_cycles(&s), 32 * 50 * 67 / 4.0, 0.1);
    ck_assert(spec_cycles_disabling(&s, TERM_BIT(ISSUE)) < 0.9 * spec_cycles(&s));
    buf_free(&s.body);
}
END_TEST

START_TEST(fp64_and_xu_throughput_match_the_device) {
    struct kernel_spec s = {.device = "rtx3090", .blocks = 82, .threads = 256, .n = 10};
    for (unsigned i = 0; i < 16; i++)
        spec_add(&s, "fma.rn.f64 %%e%u, %%e%u, %%e30, %%e31;\n", i, i);
    ck_about(spec_cycles(&s), 8 * 10 * 16 * 32 / 2.0, 0.1); /* two lanes a clock and SM */
    struct kernel_spec x = {.blocks = SMS, .threads = 256, .n = 60};
    for (unsigned i = 0; i < 16; i++) spec_add(&x, "ex2.approx.ftz.f32 %%f%u, %%f%u;\n", i, i);
    ck_about(spec_cycles(&x), 8 * 60 * 16 * 32 / 16.0, 0.1); /* sixteen */
    struct time_estimate t = spec_model(&x);
    ck_bound(t, "XU pipe");
    buf_free(&s.body), buf_free(&x.body);
}
END_TEST

/* A product of each type, eight that do not depend on each other; or the same one eight times. */
static struct kernel_spec product_spec(const char *device, const char *kind, const char *a,
                                       const char *b, bool chain) {
    struct kernel_spec s = {.device = device, .blocks = 132, .threads = chain ? 32 : 256, .n = 50};
    for (unsigned i = 0; i < 8; i++) {
        unsigned k = chain ? 0 : 4 * i;
        spec_add(&s,
                 "mma.sync.aligned.%s {%%f%u,%%f%u,%%f%u,%%f%u}, {%s}, {%s}, "
                 "{%%f%u,%%f%u,%%f%u,%%f%u};\n",
                 kind, k, k + 1, k + 2, k + 3, a, b, k, k + 1, k + 2, k + 3);
    }
    return s;
}

static void expect_product(const char *device, const char *kind, const char *a, const char *b,
                           double cycles) {
    struct kernel_spec s = product_spec(device, kind, a, b, false);
    ck_about(spec_cycles(&s), 2 * 8 * 50 * cycles, 0.15); /* two warps a scheduler */
    buf_free(&s.body);
}

/* As measured on an H100; for the A100 from its data sheet: 312 TFLOP/s / 108 SMs / 1.41 GHz = 2049
 * operations a clock, 512 a quarter of an SM, and a product of 16 x 8 x 16 has 4096. */
/* 1 KiB a warp by an instruction, from 32 MiB, takes DRAM as long as loads of 16 bytes a lane do;
 * rows of ldmatrix that lie 128 bytes apart take a pass each. */
START_TEST(matrix_loads_cost_memory_bandwidth) {
    struct kernel_spec loads = stream_spec("h200", 8192),
                       s = {.blocks = 4096, .threads = 256, .n = 1, .bytes = 32 << 20};
    spec_add(&s, "shr.u32 %%r30, %%r4, 5;\nmul.wide.u32 %%d10, %%r30, 1024;\nadd.s64 %%d11, %%d0, "
                 "%%d10;\nmov.u32 %%r31, 16;\n"
                 "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%%f1, %%f2, %%f3, %%f4, %%f5, "
                 "%%f6, %%f7, %%f8}, "
                 "[%%d11], %%r31;\n");
    ck_about(spec_cycles(&s), spec_cycles(&loads), 0.3);
    buf_free(&s.body), buf_free(&loads.body);
    struct kernel_spec rows = {.blocks = SMS, .threads = 512, .n = 20, .dynamic_shared = 8192};
    spec_add(&rows, "mad.lo.u32 %%r20, %%r5, 128, %%r7;\n");
    for (unsigned i = 0; i < 4; i++)
        spec_add(
            &rows,
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r30, %%r31, %%r32, %%r33}, [%%r20+%u];\n",
            16 * i);
    ck_about(spec_cycles(&rows), 20 * 4 * 32 * 16.0, 0.15);
    buf_free(&rows.body);
}
END_TEST

START_TEST(mma_throughput_matches_the_device) {
    static const char four[] = "%r30,%r31,%r32,%r33", two[] = "%r34,%r35", one[] = "%r34";
    expect_product("h200", "m16n8k16.row.col.f32.f16.f16.f32", four, two, 6);
    expect_product("h200", "m16n8k8.row.col.f32.f16.f16.f32", two, one, 4);
    expect_product("h200", "m16n8k8.row.col.f32.tf32.tf32.f32", four, two, 6);
    struct kernel_spec a100 =
        product_spec("a100", "m16n8k16.row.col.f32.f16.f16.f32", four, two, false);
    a100.blocks = 108;
    ck_about(spec_cycles(&a100), 2 * 8 * 50 * 8, 0.15);
    struct kernel_spec chain =
        product_spec("h200", "m16n8k16.row.col.f32.f16.f16.f32", four, two, true);
    ck_about(spec_cycles(&chain), 8 * 50 * 23.8, 0.1);
    struct time_estimate t = spec_model(&a100);
    ck_bound(t, "tensor pipe");
    buf_free(&a100.body), buf_free(&chain.body);
}
END_TEST

/* ---- shared memory and L1 ---- */

START_TEST(bank_conflicts_cost_wavefronts) {
    struct kernel_spec one = shared_spec(4), all = shared_spec(128);
    all.n = 10;
    ck_about(spec_cycles(&one), 16 * 20 * 16, 0.2);      /* a pass each, one pass a clock */
    ck_about(spec_cycles(&all), 16 * 10 * 16 * 32, 0.1); /* all lanes in one bank */
    struct time_estimate t = spec_model(&all);
    ck_bound(t, "shared memory wavefronts");
    ck_assert(spec_cycles_disabling(&all, TERM_BIT(SHARED_WAVEFRONTS)) < 0.1 * spec_cycles(&all));
    buf_free(&one.body), buf_free(&all.body);
}
END_TEST

START_TEST(merged_shared_loads_cost_fewer_wavefronts) {
    struct kernel_spec wide = {.blocks = SMS, .threads = 1024, .n = 20, .dynamic_shared = 8192},
                       odd = wide;
    for (unsigned i = 0; i < 32; i++)
        spec_add(&wide, "ld.shared.u32 %%r%u, [%%r7+%u];\n", 30 + i, 4 * i);
    for (unsigned i = 0; i < 32; i++)
        spec_add(&odd, "ld.shared.u32 %%r%u, [%%r7+%u];\n", 30 + i, 16 * i + 4);
    ck_about(spec_cycles(&odd), 32 * 20 * 32, 0.2);
    ck_about(spec_cycles(&wide), 32 * 20 * 8 * 2,
             0.25); /* eight of 128 bits, two passes each where lanes agree */
    ck_about(spec_cycles_disabling(&wide, TERM_BIT(MERGING)), 32 * 20 * 32, 0.2);
    buf_free(&wide.body), buf_free(&odd.body);
}
END_TEST

START_TEST(uncoalesced_l1_loads_cost_wavefronts) {
    struct kernel_spec near = l1_spec(4), far = l1_spec(128);
    ck_about(spec_cycles(&near), 16 * 20 * 8 * 1.25, 0.35); /* one line, now and then two */
    ck_about(spec_cycles(&far), 16 * 20 * 8 * 32, 0.1); /* 32 lines whose words lie in one bank */
    struct time_estimate t = spec_model(&far);
    ck_bound(t, "L1 wavefronts");
    ck_assert(spec_cycles_disabling(&far, TERM_BIT(L1_WAVEFRONTS)) < 0.2 * spec_cycles(&far));
    ck_assert(spec_cycles_disabling(&near, TERM_BIT(CACHE)) > 2 * spec_cycles(&near));
    buf_free(&near.body), buf_free(&far.body);
}
END_TEST

/* ---- L2, DRAM ---- */

/* Each block repeatedly reads 64 KiB, past L1, 512 bytes a request. */
START_TEST(l2_bandwidth_bounds_the_time) {
    struct kernel_spec s = {.blocks = SMS,
                            .threads = 1024,
                            .n = 64,
                            .bytes = SMS * 65536ull,
                            .prologue = "mul.wide.u32 %d10, %r4, 16;\nadd.s64 %d11, %d0, %d10;\n"};
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "ld.global.cg.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%d11+%u];\n", 30 + 4 * i,
                 31 + 4 * i, 32 + 4 * i, 33 + 4 * i, 16384 * i);
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "L2 bandwidth");
    double bytes = SMS * 64.0 * 1024 * 64;
    ck_assert(t.seconds > bytes / 9.95e12 && t.seconds < 2.4 * bytes / 9.95e12);
    ck_assert(spec_model_with(&s, TERM_BIT(L2), 0).seconds < 0.7 * t.seconds);
    buf_free(&s.body);
}
END_TEST

START_TEST(dram_bandwidth_bounds_the_time) {
    struct kernel_spec s = stream_spec("h200", 1 << 16); /* 256 MiB */
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "DRAM bandwidth");
    ck_about(t.seconds, 268435456 / 4.3e12, 0.15);
    ck_about(t.dram_bytes, 268435456.0 + 0.44 * 62914560,
             0.01); /* and what the flush left in L2, pushed out */
    ck_assert(spec_model_with(&s, TERM_BIT(DRAM), 0).seconds <
              0.65 * t.seconds); /* 65536 blocks start in 40 us */
    struct kernel_spec small = stream_spec("mx330", 1 << 12);
    ck_about(spec_model(&small).seconds, 16777216 / 48e9, 0.15);
    buf_free(&s.body), buf_free(&small.body);
}
END_TEST

START_TEST(a_warm_l2_avoids_dram_traffic) {
    struct kernel_spec s = stream_spec("h200", 1 << 12); /* 16 MiB */
    double cold = spec_model(&s).dram_bytes;
    s.warm = true;
    ck_about(cold, 16777216.0 * 4 / 3, 0.01); /* a third of it pushes out what the flush left */
    ck_assert(spec_model(&s).dram_bytes < 1e5);
    buf_free(&s.body);
}
END_TEST

/* Warps that wait for one load at a time: as many of them as are resident work side by side. */
START_TEST(resident_warps_hide_latency) {
    struct kernel_spec one = {.blocks = SMS, .threads = 32, .n = 200, .bytes = 1 << 16}, eight;
    spec_add(&one, "mul.wide.u32 %%d10, %%r20, 4;\nadd.s64 %%d11, %%d0, %%d10;\nld.global.cg.u32 "
                   "%%r20, [%%d11];\n");
    eight = one;
    eight.blocks = 8 * SMS;
    ck_about(spec_cycles(&one), 200.0 * (390 + 10), 0.1);
    ck_about(spec_cycles(&eight), spec_cycles(&one), 0.1);
    struct time_estimate t = spec_model(&one);
    ck_bound(t, "latency of L2");
    buf_free(&one.body);
}
END_TEST

/* ---- asynchronous copies ---- */

/* The next address depends on what the copy before brought: as slow as a chain of loads
 * (test_latency_hiding), and a load from shared memory, 30 cycles. */
static const char address[] = "mul.wide.u32 %d10, %r20, 16;\nadd.s64 %d11, %d0, %d10;\n";
static const char arrive_code[] = "mbarrier.init.shared.b64 [mem+64], 1;\nmov.u32 %r21, 0;\n";
static const char wait_code[] =
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [mem+64], %r21;\n@!%p1 bra W;\n"
    "xor.b32 %r21, %r21, 1;\n";

START_TEST(dependent_async_copies_take_their_latency) {
    struct kernel_spec groups = {.blocks = SMS,
                                 .threads = 1,
                                 .n = 200,
                                 .bytes = 1 << 16,
                                 .dynamic_shared = 128},
                       all = groups, part = groups, bulk = groups, arrive = groups;
    spec_add(&groups,
             "%scp.async.cg.shared.global [mem], [%%d11], 16;\ncp.async.commit_group;\n"
             "cp.async.wait_group 0;\nld.shared.u32 %%r20, [mem];\n",
             address);
    spec_add(&all,
             "%scp.async.ca.shared.global [mem], [%%d11], 4;\ncp.async.wait_all;\nld.shared.u32 "
             "%%r20, [mem];\n",
             address);
    spec_add(&part,
             "%scp.async.cg.shared.global [mem], [%%d11], 16, 8;\ncp.async.wait_all;\n"
             "ld.shared.u32 %%r20, [mem];\n",
             address);
    bulk.prologue = arrive.prologue = arrive_code;
    spec_add(&bulk,
             "%smbarrier.arrive.expect_tx.shared.b64 %%d12, [mem+64], 16;\n"
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [mem], [%%d11], "
             "16, [mem+64];\n"
             "%sld.shared.u32 %%r20, [mem];\n",
             address, wait_code);
    spec_add(&arrive,
             "%scp.async.cg.shared.global [mem], [%%d11], 16;\n"
             "cp.async.mbarrier.arrive.noinc.shared.b64 [mem+64];\n%sld.shared.u32 %%r20, [mem];\n",
             address, wait_code);
    double expected = 200.0 * (390 + 30 + 10);
    ck_about(spec_cycles(&groups), expected, 0.3);
    ck_about(spec_cycles(&part), expected, 0.3);
    ck_about(spec_cycles(&bulk), expected, 0.3);
    ck_about(spec_cycles(&arrive), expected, 0.3);
    ck_assert(spec_cycles(&all) < expected * 1.3 &&
              spec_cycles(&all) > 200 * 32); /* .ca: L1 has it after the first */
    buf_free(&groups.body), buf_free(&all.body), buf_free(&part.body), buf_free(&bulk.body),
        buf_free(&arrive.body);
}
END_TEST

/* Four groups in flight, with a wait for the oldest only, take a quarter of the time. So do
 * copies at four mbarriers. */
START_TEST(async_copies_in_flight_overlap) {
    struct kernel_spec four = {.blocks = SMS,
                               .threads = 1,
                               .n = 100,
                               .bytes = 1 << 16,
                               .dynamic_shared = 256},
                       bulk = four;
    for (unsigned i = 0; i < 4; i++)
        spec_add(&four,
                 "cp.async.cg.shared.global [mem+%u], [%%d0+%u], 16;\ncp.async.commit_group;\n"
                 "cp.async.wait_group 3;\nld.shared.u32 %%r20, [mem+%u];\n",
                 16 * i, 16 * i, 16 * ((i + 1) % 4));
    ck_about(spec_cycles(&four), 100.0 * (390 + 4 * 10), 0.3);
    bulk.prologue = "mbarrier.init.shared.b64 [mem+64], 1;\nmbarrier.init.shared.b64 [mem+72], 1;\n"
                    "mbarrier.init.shared.b64 [mem+80], 1;\nmbarrier.init.shared.b64 [mem+88], "
                    "1;\nmov.u32 %r21, 0;\n";
    for (unsigned i = 0; i < 4; i++)
        spec_add(&bulk,
                 "mbarrier.arrive.expect_tx.shared.b64 %%d12, [mem+%u], 16;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [mem+%u], "
                 "[%%d0+%u], 16, "
                 "[mem+%u];\n",
                 64 + 8 * i, 16 * i, 16 * i, 64 + 8 * i);
    for (unsigned i = 0; i < 4; i++)
        spec_add(
            &bulk,
            "W%u: mbarrier.try_wait.parity.shared.b64 %%p1, [mem+%u], %%r21;\n@!%%p1 bra W%u;\n", i,
            64 + 8 * i, i);
    spec_add(&bulk, "ld.shared.u32 %%r20, [mem];\nxor.b32 %%r21, %%r21, 1;\n");
    ck_about(spec_cycles(&bulk), 100.0 * (390 + 4 * 30), 0.4);
    buf_free(&four.body), buf_free(&bulk.body);
}
END_TEST

/* ---- as measured on an H100 (grader/tests/timing/micro-h100.tsv) ---- */

/* 67584 empty blocks: 43.7 us. */
START_TEST(block_launches_are_serialized) {
    struct kernel_spec s = {.device = "h100", .blocks = 67584, .threads = 32, .n = 1};
    ck_about(1e6 * spec_model(&s).seconds, 43.7, 0.1);
    buf_free(&s.body);
}
END_TEST

/* Each lane stores 4 bytes into a line of its own, again and again: 57 G a second, which L2 has;
 * whole sectors go three times as fast. */
START_TEST(partial_sector_writes_are_slower) {
    struct kernel_spec s = {.device = "h100",
                            .blocks = 4 * SMS,
                            .threads = 256,
                            .n = 20,
                            .bytes = 4 * SMS * 256 * 128,
                            .warm = true,
                            .prologue = "mul.wide.u32 %d10, %r4, 128;\nadd.s64 %d11, %d0, %d10;\n"},
                       full_sectors = s;
    spec_add(&s, "st.global.u32 [%%d11], %%r8;\n");
    spec_add(&full_sectors, "st.global.v4.u32 [%%d11], {%%r8, %%r8, %%r8, %%r8};\nst.global.v4.u32 "
                            "[%%d11+16], {%%r8, %%r8, %%r8, "
                            "%%r8};\n");
    double stores = 4.0 * SMS * 256 * 20, launch = device_find("h100")->launch_seconds;
    ck_about(spec_model(&s).seconds - launch, stores / 57e9, 0.15);
    ck_assert(spec_model(&full_sectors).seconds >
              spec_model(&s).seconds); /* two halves of a sector: each in part */
    buf_free(&s.body), buf_free(&full_sectors.body);
}
END_TEST

/* Additions of floats in shared memory are a loop of compare-and-swap: 32 lanes on one word take an
 * SM 1452 cycles, 64-bit ones 986, where 32-bit integers take 34. */
START_TEST(shared_cas_loops_cost_their_retries) {
    static const struct {
        const char *type, *value;
        double cycles;
    } cases[] = {{"f32", "%f3", 1452}, {"u64", "%d9", 986}, {"u32", "%r8", 34}};
    for (unsigned i = 0; i < 3; i++) {
        struct kernel_spec s = {
            .device = "h100",
            .blocks = 2 * SMS,
            .threads = 256,
            .n = 20,
            .dynamic_shared = 4096,
            .prologue = "mul.wide.u32 %d10, %r5, 4;\nadd.s64 %d11, %d0, %d10;\nld.global.u32 %r21, "
                        "[%d11+256];\nadd.s32 %r20, %r21, %r7;\n"};
        spec_add(&s, "red.shared.add.%s [%%r20], %s;\n", cases[i].type, cases[i].value);
        ck_about(spec_cycles(&s), 2 * 8 * 20 * cases[i].cycles, 0.2);
        buf_free(&s.body);
    }
}
END_TEST

/* Two warps take the long path in turns: a barrier makes both wait for it every time. */
/* 78 operations, and as many spilled words: one for each. Every second is a store, whose line takes
 * L2 9.4 cycles, as long as 8.8 sectors read (test_timing_local.c). With four for each, 1024
 * threads need 320 KB, more than L1 has, and a load takes 2.1 more. */
START_TEST(register_spills_cost_accesses) {
    struct kernel_spec s = fma_spec(16, 1024);
    s.spill_bytes = 4 * 78;
    ck_about(spec_cycles(&s), 32 * 50 * 67 * 9.4 / 2, 0.1);
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "L2 bandwidth");
    s.spill_bytes = 4 * 4 * 78;
    ck_about(spec_cycles(&s), 4 * 32 * 50 * 67 * (9.4 + 2.1) / 2, 0.1);
    t = spec_model(&s);
    ck_bound(t, "L2 bandwidth");
    buf_free(&s.body);
}
END_TEST

/* The same 64 FMAs in a function that the kernel calls: the spills belong to some 80 operations as
 * before, not to the kernel's own 15, each of which would have five. */
START_TEST(spills_of_a_called_function_are_spread_over_it) {
    struct buf function = {0};
    struct kernel_spec inlined = fma_spec(16, 1024), s = {.blocks = SMS, .threads = 1024, .n = 50};
    buf_puts(&function, ".func work() {\n.reg .f32 %f<99>;\n");
    for (unsigned i = 0; i < 64; i++)
        buf_printf(&function, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i % 16, i % 16);
    buf_puts(&function, "ret;\n}\n");
    s.functions = buf_str(&function);
    spec_add(&s, "call work;\n");
    inlined.spill_bytes = s.spill_bytes = 4 * 78;
    ck_about(spec_cycles(&s), spec_cycles(&inlined), 0.2);
    buf_free(&s.body), buf_free(&inlined.body), buf_free(&function);
}
END_TEST

START_TEST(barriers_wait_for_the_slowest_warp) {
    struct kernel_spec s = {.blocks = SMS, .threads = 64, .n = 40};
    spec_add(&s, "and.b32 %%r20, %%r8, 1;\nsetp.ne.s32 %%p1, %%r20, %%r6;\n@%%p1 bra SHORT;\n");
    for (unsigned i = 0; i < 100; i++) spec_add(&s, "fma.rn.f32 %%f0, %%f0, %%f1, %%f2;\n");
    spec_add(&s, "SHORT:\nbar.sync 0;\n");
    ck_about(spec_cycles(&s), 40 * (100 * 4 + 40), 0.12);
    ck_about(spec_cycles_disabling(&s, TERM_BIT(BARRIERS)), 20 * (100 * 4 + 40), 0.15);
    buf_free(&s.body);
}
END_TEST

START_TEST(a_partial_last_wave_costs_a_full_one) {
    struct kernel_spec full_wave = fma_spec(16, 1024), more;
    full_wave.dynamic_shared = 200000; /* one block an SM */
    more = full_wave;
    more.blocks = SMS + 1;
    ck_about(spec_cycles(&more), 2 * spec_cycles(&full_wave), 0.05);
    ck_about(spec_cycles_disabling(&more, TERM_BIT(TAIL)), spec_cycles(&full_wave), 0.05);
    buf_free(&full_wave.body);
}
END_TEST

START_TEST(an_empty_launch_costs_its_overhead) {
    struct kernel_spec s = {.blocks = 1, .threads = 32, .n = 1};
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "launch overhead");
    ck_assert(t.seconds > 2.5e-6 && t.seconds < 2.8e-6);
    ck_assert(spec_model_with(&s, TERM_BIT(LAUNCH), 0).seconds < 0.3e-6);
}
END_TEST

/* ---- what ptxas does ---- */

START_TEST(loads_are_hoisted_by_scheduling) {
    struct kernel_spec s = {.blocks = SMS,
                            .threads = 32,
                            .n = 50,
                            .bytes = 1 << 16,
                            .prologue = "mul.wide.u32 %d10, %r5, 4;\nadd.s64 %d11, %d0, %d10;\n"};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "ld.global.cg.u32 %%r%u, [%%d11+%u];\nadd.s32 %%r20, %%r20, %%r%u;\n", 30 + i,
                 128 * i, 30 + i);
    double in_order = spec_cycles_disabling(&s, TERM_BIT(SCHEDULING));
    ck_about(in_order, 50 * 8 * 400.0, 0.15); /* each load waits for the sum before it */
    ck_assert(spec_cycles(&s) < in_order / 5);
    buf_free(&s.body);
}
END_TEST

START_TEST(loads_are_not_hoisted_above_stores) {
    struct kernel_spec s = {
        .blocks = SMS,
        .threads = 32,
        .n = 50,
        .bytes = 1 << 16,
        .prologue =
            "mul.wide.u32 %d10, %r5, 4;\nadd.s64 %d11, %d0, %d10;\nadd.s64 %d12, %d11, %d9;\n"};
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "ld.global.cg.u32 %%r%u, [%%d11+%u];\nst.global.u32 [%%d12+%u], %%r%u;\n",
                 30 + i, 128 * i, 128 * i, 30 + i);
    ck_assert(
        spec_cycles(&s) >
        50 * 4 *
            380.0); /* they may overlap: a store waits for its load, the next load for the store */
    buf_free(&s.body);
}
END_TEST

START_TEST(register_moves_are_free) {
    struct kernel_spec s = fma_spec(16, 1024), m = fma_spec(16, 1024);
    for (unsigned i = 0; i < 32; i++) spec_add(&m, "mov.u32 %%r%u, %%r%u;\n", 30 + i, 62 + i);
    ck_about(spec_cycles(&m), spec_cycles(&s), 0.02);
    ck_assert(spec_cycles_disabling(&m, TERM_BIT(LOWERING)) > 1.2 * spec_cycles(&m));
    buf_free(&s.body), buf_free(&m.body);
}
END_TEST

START_TEST(every_device_parameter_has_a_source) {
    static const char *const required[] = {
        "h200", "h100",    "a100", "v100", "rtx4090", "rtx3090", "t4",      "a4000", "mx330",
        "b200", "rtx5090", "l40s", "l4",   "rtx5070", "rtx4060", "rtx3060", "a10g",  "orin"};
    for (unsigned i = 0; i < sizeof required / sizeof *required; i++)
        ck_assert_msg(device_find(required[i]) != NULL, "%s", required[i]);
    for (unsigned i = 0; device_at(i); i++) {
        struct device_spec f;
        unsigned n = 0;
        while (device_spec(device_at(i), n, &f)) n++;
        ck_assert_uint_eq(n, strlen(device_at(i)->spec_sources));
        ck_assert(device_at(i)->clock_hz > 1e9 && device_at(i)->dram_rate > 1e10);
    }
}
END_TEST

/* Peaks of the vendor's data sheets, in TFLOP/s of FP32: 2 operations a lane and clock. */
START_TEST(fp32_peaks_match_the_data_sheets) {
    static const struct {
        const char *device;
        double tflops;
    } sheets[] = {{"h200", 67},   {"a100", 19.5}, {"v100", 15.7},     {"rtx4090", 82.6},
                  {"t4", 8.1},    {"b200", 75},   {"rtx5090", 104.8}, {"rtx5070", 30.9},
                  {"l40s", 91.6}, {"l4", 30.3},   {"rtx4060", 15.1},  {"rtx3060", 12.7},
                  {"a10g", 35},   {"orin", 5.3}};
    for (unsigned i = 0; i < sizeof sheets / sizeof *sheets; i++) {
        const struct gpu_device *d = device_find(sheets[i].device);
        double modelled = 2e-12 * d->sms * d->fp32_lanes * d->clock_hz;
        ck_assert_msg(modelled > 0.88 * sheets[i].tflops && modelled < 1.05 * sheets[i].tflops,
                      "%s: %.1f of %.1f", d->name, modelled, sheets[i].tflops);
    }
}
END_TEST

START_TEST(devices_without_measurements_have_wider_intervals) {
    static const char *const devices[] = {"h100", "a100", "l4"}; /* l4: estimated latencies */
    double width[3];
    for (unsigned i = 0; i < 3; i++) {
        struct kernel_spec s = fma_spec(16, 1024);
        s.device = devices[i];
        struct time_estimate t = spec_model(&s);
        width[i] = t.high / t.low;
        ck_assert_int_eq(strstr(t.uncertainty_note, "not measured") != NULL, i > 0);
        buf_free(&s.body);
    }
    ck_assert(width[0] < width[1] && width[1] < width[2]);
}
END_TEST

UNIT_SUITE(timing) {
    Suite *s = suite_create("timing");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, fp32_throughput_matches_the_device);
    tcase_add_test(c, dependent_fmas_take_their_latency);
    tcase_add_test(c, full_issue_slots_bound_the_time);
    tcase_add_test(c, fp64_and_xu_throughput_match_the_device);
    tcase_add_test(c, mma_throughput_matches_the_device);
    tcase_add_test(c, matrix_loads_cost_memory_bandwidth);
    tcase_add_test(c, bank_conflicts_cost_wavefronts);
    tcase_add_test(c, merged_shared_loads_cost_fewer_wavefronts);
    tcase_add_test(c, uncoalesced_l1_loads_cost_wavefronts);
    tcase_add_test(c, l2_bandwidth_bounds_the_time);
    tcase_add_test(c, dram_bandwidth_bounds_the_time);
    tcase_add_test(c, a_warm_l2_avoids_dram_traffic);
    tcase_add_test(c, resident_warps_hide_latency);
    tcase_add_test(c, dependent_async_copies_take_their_latency);
    tcase_add_test(c, async_copies_in_flight_overlap);
    tcase_add_test(c, register_spills_cost_accesses);
    tcase_add_test(c, spills_of_a_called_function_are_spread_over_it);
    tcase_add_test(c, block_launches_are_serialized);
    tcase_add_test(c, partial_sector_writes_are_slower);
    tcase_add_test(c, shared_cas_loops_cost_their_retries);
    tcase_add_test(c, barriers_wait_for_the_slowest_warp);
    tcase_add_test(c, a_partial_last_wave_costs_a_full_one);
    tcase_add_test(c, an_empty_launch_costs_its_overhead);
    tcase_add_test(c, loads_are_hoisted_by_scheduling);
    tcase_add_test(c, loads_are_not_hoisted_above_stores);
    tcase_add_test(c, register_moves_are_free);
    tcase_add_test(c, every_device_parameter_has_a_source);
    tcase_add_test(c, fp32_peaks_match_the_data_sheets);
    tcase_add_test(c, devices_without_measurements_have_wider_intervals);
    suite_add_tcase(s, c);
    return s;
}
