/* options.h — the grader's command line. */
#pragma once
#include "common/err.h"
#include "grader/class/assignment.h"
#include "grader/class/plan.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

enum { MAX_DEVICES = 16, EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_BROKEN = 3 };

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
    const char *const *names; /* what follows it */
    unsigned nnames;
    const struct gpu_device *devices[MAX_DEVICES];
    unsigned ndevices;
    const char *file, *output, *exercise;
    const char *store, *roster, *assignment; /* of a class */
    const char *answers;                     /* of a quiz */
    const struct assignment *terms; /* what --assignment names, once it is read; NULL = none */
    bool device_given;
    enum plan_layout layout;
    unsigned shard, shards; /* 1 to shards; 0 = no shards */
    char seed[65];
    bool seed_given, dry_run, diff, version;
    enum report_format format;
    bool no_jail, no_modelled, machine_code, working_tree, quick, all, verbose, help;
    unsigned only_case; /* 0 = all */
    unsigned workers;   /* simulator threads; 0 = one for each core */
    unsigned jobs;      /* submissions graded at the same time; 0 = one for each core */
    struct buf *brief;  /* watch: the report once more, for a screen; appended */
};

/* False with a message for the user. `--seed` that is missing is drawn from the system. */
bool options_parse(struct options *o, int argc, char **argv, struct err *e);
const char *options_usage(void);
/* Adds a device as --device names it. */
bool options_add_device(struct options *o, const char *name, struct err *e);
struct grade_options options_grade(const struct options *o, const struct gpu_device *d);
