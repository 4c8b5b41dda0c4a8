/* test_attribution.c — tests what the time model and its traces report for source lines: a
 * warp's accesses and its stall reasons. */
#include "grader/sim/timing/timing.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <string.h>

/* Lane l loads the float at 32 l (line 10), adds it to itself (line 11), stores it to word 2 l of
 * shared memory (line 12), waits at a barrier (13), stores it side by side (14), where lanes above
 * 15 do not (15). */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u64 q) {\n"
    ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %d<9>; .shared .align 4 .b8 "
    "s[512];\n"
    ".loc 1 9 1\nld.param.u64 %d0, [p];\nld.param.u64 %d1, [q];\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d2, %r1, 32;\nadd.s64 %d3, %d0, %d2;\nmul.wide.u32 %d4, %r1, 4;\nadd.s64 %d5, "
    "%d1, %d4;\n"
    "mov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, 8, %r2;\n"
    ".loc 1 10 1\nld.global.f32 %f1, [%d3];\n"
    ".loc 1 11 1\nadd.f32 %f2, %f1, %f1;\n"
    ".loc 1 12 1\nst.shared.f32 [%r3], %f2;\n"
    ".loc 1 13 1\nbar.sync 0;\n"
    ".loc 1 14 1\nst.global.f32 [%d5], %f2;\n"
    "setp.gt.u32 %p1, %r1, 15;\n@%p1 bra END;\n"
    ".loc 1 15 1\nst.global.f32 [%d5+512], %f2;\n"
    "END:\nret;\n}\n.file 1 \"look.cu\"\n";

struct traced_run {
    struct kernel_rig rig;
    struct sim_result r;
    struct time_estimate t;
};

static struct traced_run run_kernel(void) {
    struct traced_run x = {.rig = rig_open(text)};
    uint64_t params[] = {sim_alloc(x.rig.sim, 4096, "in"), sim_alloc(x.rig.sim, 4096, "out")};
    sim_fill(x.rig.sim, params[0], 0, 4096);
    struct sim_launch l = {.kernel = sim_find_kernel(x.rig.module, "k"),
                           .grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .params = params,
                           .param_bytes = sizeof params};
    struct time_options o = {.full_grid = true};
    ck_assert(time_launch(x.rig.sim, &l, &o, &x.r, &x.t));
    return x;
}

static void close_run(struct traced_run *x) {
    sim_result_free(&x->r);
    rig_close(&x->rig);
}

static const struct sim_access *access_at(const struct sim_result *r, unsigned line) {
    for (unsigned i = 0; i < r->naccesses; i++)
        if (r->accesses[i].line == line) return &r->accesses[i];
    return NULL;
}

START_TEST(traced_accesses_keep_their_lane_addresses) {
    struct traced_run x = run_kernel();
    const struct sim_access *load = access_at(&x.r, 10), *shared = access_at(&x.r, 12),
                            *store = access_at(&x.r, 14), *half = access_at(&x.r, 15);
    ck_assert(load && shared && store && half);
    ck_assert_uint_eq(x.r.naccesses, 4);
    ck_assert_uint_eq(load->cost, 32); /* a sector for each lane */
    ck_assert_uint_eq(load->kind, SIM_ACCESS_LOAD);
    ck_assert(!load->is_shared && load->lane_bytes == 4 && load->mask == ~0u);
    for (unsigned l = 0; l < 32; l++) ck_assert_uint_eq(load->offset[l], 32 * l);
    ck_assert(shared->is_shared && shared->kind == SIM_ACCESS_STORE);
    ck_assert_uint_eq(shared->cost, 2); /* lanes l and l + 16 share a bank */
    ck_assert_uint_eq(store->cost, 4);
    ck_assert_uint_eq(half->mask, 0xffff);
    ck_assert_uint_eq(half->cost, 2);
    ck_assert_str_eq(half->file, "look.cu");
    close_run(&x);
}
END_TEST

static const struct sim_line *line_at(const struct sim_result *r, unsigned line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line) return &r->lines[i];
    return NULL;
}

/* One warp: hundreds of cycles for the load, a few for each of the others; together they make up
 * the launch's time without its start. */
START_TEST(stalls_are_attributed_to_the_first_use_of_a_load) {
    struct traced_run x = run_kernel();
    double all = 0, device = x.t.seconds - x.t.components[TIME_COMPONENT_LAUNCH];
    for (unsigned i = 0; i < x.r.nlines; i++)
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++) all += x.r.lines[i].stall_seconds[k];
    ck_assert_msg(fabs(all - device) < 1e-6 * device, "lines have %g s of %g s", all, device);
    const struct sim_line *add = line_at(&x.r, 11), *load = line_at(&x.r, 10),
                          *barrier = line_at(&x.r, 13);
    ck_assert(add && load && barrier);
    ck_assert_double_gt(add->stall_seconds[SIM_STALL_LONG_SCOREBOARD_DRAM] +
                            add->stall_seconds[SIM_STALL_LONG_SCOREBOARD_L2],
                        0.5 * device);
    ck_assert_double_lt(load->stall_seconds[SIM_STALL_LONG_SCOREBOARD_DRAM] +
                            load->stall_seconds[SIM_STALL_LONG_SCOREBOARD_L2],
                        0.01 * device);
    ck_assert_double_gt(barrier->stall_seconds[SIM_STALL_BARRIER], 0);
    close_run(&x);
}
END_TEST

/* Parts of 10 us: DRAM busy for 6 of them, the issue slots for 3, 1 us of launch; waits share what
 * no resource explains. */
START_TEST(limiting_resources_are_ranked_by_their_share) {
    double parts[TIME_MAX_COMPONENTS] = {0}, account[TIME_MAX_COMPONENTS], sum = 0;
    struct time_limiter limits[TIME_LIMIT_COUNT];
    for (unsigned i = 0; time_component_name(i); i++) {
        if (!strcmp(time_component_name(i), "DRAM bandwidth")) parts[i] = 6e-6;
        if (!strcmp(time_component_name(i), "issue slots")) parts[i] = 3e-6;
        if (!strcmp(time_component_name(i), "latency of L2")) parts[i] = 4e-6;
    }
    parts[TIME_COMPONENT_LAUNCH] = 1e-6;
    time_rank_limits(parts, 10e-6, limits);
    ck_assert_str_eq(time_component_name(limits[0].component), "DRAM bandwidth");
    ck_assert_double_eq_tol(limits[0].share, 0.6, 1e-12);
    /* Issue, and latency: 9 - 6 us of the device's. */
    ck_assert_double_eq_tol(limits[1].share, 0.3, 1e-12);
    ck_assert_double_eq_tol(limits[2].share, 0.3, 1e-12);
    /* The account: 1 us of launch, 6 of DRAM, which hide the 3 of issue, and 3 of latency. */
    time_account(parts, 10e-6, account);
    for (unsigned i = 0; time_component_name(i); i++) {
        const char *name = time_component_name(i);
        double want = !strcmp(name, "launch overhead")  ? 1e-6
                      : !strcmp(name, "DRAM bandwidth") ? 6e-6
                      : !strcmp(name, "latency of L2")  ? 3e-6
                                                        : 0;
        ck_assert_double_eq_tol(account[i], want, 1e-12);
        sum += account[i];
    }
    ck_assert_double_eq_tol(sum, 10e-6, 1e-12);
}
END_TEST

/* Returns what limits 10 us, of which the launch takes `launch`, a resource `busy` and waits for L2
 * the rest. */
static const char *limit_of(const char *resource, double busy, double launch) {
    double parts[TIME_MAX_COMPONENTS] = {[TIME_COMPONENT_LAUNCH] = launch};
    struct time_limiter limits[TIME_LIMIT_COUNT];
    for (unsigned i = 0; time_component_name(i); i++) {
        if (!strcmp(time_component_name(i), resource)) parts[i] = busy;
        if (!strcmp(time_component_name(i), "latency of L2")) parts[i] = 10e-6 - launch - busy;
    }
    time_rank_limits(parts, 10e-6, limits);
    return time_component_name(limits[0].component);
}

/* Nsight Compute calls a kernel latency-bound in which no unit reaches 60 % of its peak. */
START_TEST(latency_limits_where_no_unit_reaches_60_percent) {
    ck_assert_str_eq(limit_of("DRAM bandwidth", 6.1e-6, 1e-6), "DRAM bandwidth");
    ck_assert_str_eq(limit_of("DRAM bandwidth", 5.9e-6, 1e-6), "latency of L2");
    ck_assert_str_eq(limit_of("DRAM bandwidth", 5.5e-6, 3e-6), "launch overhead");
    ck_assert_str_eq(limit_of("atomics on one address", 5.5e-6, 1e-6), "atomics on one address");
}
END_TEST

UNIT_SUITE(attribution) {
    Suite *s = suite_create("attribution");
    TCase *t = tcase_create("lines");
    tcase_add_test(t, traced_accesses_keep_their_lane_addresses);
    tcase_add_test(t, stalls_are_attributed_to_the_first_use_of_a_load);
    tcase_add_test(t, limiting_resources_are_ranked_by_their_share);
    tcase_add_test(t, latency_limits_where_no_unit_reaches_60_percent);
    suite_add_tcase(s, t);
    return s;
}
