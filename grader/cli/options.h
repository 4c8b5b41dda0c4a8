/* options.h — the grader's command line. */
#pragma once
#include "common/err.h"
#include "grader/class/assignment.h"
#include "grader/class/plan.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

enum {
    MAX_DEVICES = 16,
    EXIT_PASSED = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERNAL_ERROR = 3
};

enum report_format {
    FORMAT_TEXT,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_GRADESCOPE,
    FORMAT_JUNIT,
    FORMAT_TAP,
    FORMAT_NBGRADER,
    FORMAT_TOTALS,
    FORMAT_CLASSROOM,
    FORMAT_HTML
};

struct options {
    const char *command;
    const char *const *operands; /* what follows it */
    unsigned noperands;
    const struct gpu_device *devices[MAX_DEVICES];
    unsigned ndevices;
    const char *file, *output, *exercise;
    const char *store, *roster, *assignment_path; /* of a class */
    const char *answers;                          /* of a quiz */
    const struct assignment
        *loaded_assignment; /* what --assignment names, once it is read; NULL = none */
    bool has_device;
    enum plan_layout layout;
    unsigned shard_number, shard_count; /* 1 to shards; 0 = no shards */
    char seed[65];
    bool has_seed, dry_run, diff, version;
    enum report_format format;
    bool no_jail, ignore_modelled_speed, machine_code, working_tree, quick, all, verbose, help;
    unsigned only_case;       /* 0 = all */
    unsigned workers;         /* simulator threads; 0 = one for each core */
    unsigned jobs;            /* submissions graded at the same time; 0 = one for each core */
    struct buf *brief_report; /* watch: the report once more, for a screen; appended */
};

/* False with a message for the user. `--seed` that is missing is drawn from the system. */
bool options_parse(struct options *o, int argc, char **argv, struct err *e);
const char *options_usage(void);
/* Adds a device as --device names it. */
bool options_add_device(struct options *o, const char *name, struct err *e);
struct grade_options options_to_grade_options(const struct options *o, const struct gpu_device *d);
