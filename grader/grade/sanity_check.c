/* sanity_check.c — checks that the work at the timed size is what the exercise requires. A sample
 * of the blocks has no outputs to compare, so code that recognizes the size and skips work would
 * look fast. Three tests, each a lower bound that every correct program on the device meets; a
 * violation needs a review by a person. */
#include "grader/grade/grading_ctx.h"

#include <stdio.h>

enum { SECTOR = 32 };

/* See grading_ctx.h. Tensor cores count at their rate for halves, the fastest type that sums in
 * float. */
double grade_compute_seconds(const struct gpu_device *d, double flops, double tensor_flops) {
    double mma_flops = tensor_flops < flops ? tensor_flops : flops, tensor_cores = 4.0 * d->sms,
           flops_per_mma = 2.0 * 16 * 8 * 16;
    return ((flops - mma_flops) / (2.0 * d->fp32_lanes * d->sms) +
            mma_flops * device_mma_cycles(d) / (tensor_cores * flops_per_mma)) /
           d->clock_hz;
}

double grade_tensor_flops(const struct exercise *ex, double flops, double counted_flops) {
    return ex->has_tensor_core_roof ? flops : counted_flops;
}

bool grade_crosses_host_bus(const struct exercise *ex) {
    bool any = false;
    for (unsigned i = 0; i < ex->nargs; i++) any |= ex->args[i].is_pinned_host;
    return any && ex->bytes;
}

double result_peak_flops(const struct speed_result *s, const struct gpu_device *d) {
    if (!(s->flops > 0)) return 2.0 * d->fp32_lanes * d->sms * d->clock_hz;
    return s->flops / grade_compute_seconds(d, s->flops, s->tensor_flops);
}

/* Returns the minimum seconds: each byte crosses L2 once, and what L2 can't hold crosses DRAM. */
static double min_seconds(const struct grading_ctx *g, const struct ex_case *c,
                          const struct sim_counters *n) {
    const struct gpu_device *d = g->o->device;
    double bytes = g->ex->bytes ? g->ex->bytes(c) : 0, flops = g->ex->flops ? g->ex->flops(c) : 0;
    double dram = bytes > (double)d->l2_bytes ? (bytes - (double)d->l2_bytes) / d->dram_rate : 0;
    double l2 = bytes / d->l2_rate,
           compute_seconds = grade_compute_seconds(d, flops, (double)n->flops_matrix);
    double min_time = dram > l2 ? dram : l2;
    return min_time > compute_seconds ? min_time : compute_seconds;
}

/* Returns the bytes of all outputs, each of which must be written. */
static double output_bytes(const struct exercise *ex, const struct ex_case *c) {
    double bytes = 0;
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].role == EX_OUT && ex->args[i].count &&
            !(ex->args[i].alias && ex->args[i].alias(c)))
            bytes += (double)ex->args[i].count(c) * (double)ex_type_bytes(ex->args[i].type);
    return bytes;
}

bool sanity_check_time(struct grading_ctx *g, const struct sim_counters *n, double seconds) {
    double min_time = min_seconds(g, &g->ex->timed_case, n);
    if (seconds >= min_time) return true;
    snprintf(g->implausible_reason, sizeof g->implausible_reason,
             "%.3g us at the timed size is faster than the device can be: the problem's bytes and "
             "operations take at least %.3g us",
             seconds * 1e6, min_time * 1e6);
    return false;
}

void sanity_check_work(struct grading_ctx *g, const struct launch_stats *stats) {
    const struct ex_case *c = &g->ex->timed_case;
    double output_size = output_bytes(g->ex, c);
    /* Use the interval's upper end: an honest program must not fail by the model's error. */
    double upper_seconds = stats->high > stats->seconds ? stats->high : stats->seconds;
    const struct sim_counters *n = &stats->counters;
    double written =
        SECTOR * (double)(n->global_store_sectors + n->atomic_sectors + n->bulk_store_sectors);
    if (!stats->launches && g->launch_stats.launches)
        snprintf(g->implausible_reason, sizeof g->implausible_reason,
                 "the entry launches %u kernels at the technique size and none at the timed size",
                 g->launch_stats.launches);
    else if (sanity_check_time(g, n, upper_seconds) && !stats->has_other_writes &&
             written < 0.25 * output_size)
        snprintf(
            g->implausible_reason, sizeof g->implausible_reason,
            "at the timed size the kernels write at most %.0f bytes, but the outputs have %.0f",
            written, output_size);
}
