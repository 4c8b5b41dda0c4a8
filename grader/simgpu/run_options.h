/* run_options.h — the options of `simgpu run`, for run.c. */
#pragma once
#include "grader/simgpu/simgpu.h"

struct run_options {
    enum counter_format counters;
    const char *counters_file, *device, *report, *pictures, *listing;
    unsigned workers, devices;
    int error_exitcode; /* for a program that ends with 0 although there were findings; 0 = none */
    enum sim_native native;
    bool sample, sanitize, adversarial_schedule, hardware_order, report_leaks, time, cold_caches,
        ptx_counters, execute_repeats;
    double timeout;
    uint64_t memory, budget;
};

extern const char simgpu_run_usage[];
/* Parses the options at the start of `argv`. Returns the index of the program's name there; argc,
 * with an error, if an option is wrong. */
int simgpu_parse_run_options(struct run_options *o, int argc, char **argv, struct err *e);
/* Refuses --sample with options that check results or run other code than the sample's, and without
 * any that shows what it measures. */
bool simgpu_check_sample_options(const struct run_options *o, struct err *e);
