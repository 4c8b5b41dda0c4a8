/* options.h — the grader's options, which main.c parses and every command reads. */
#pragma once
#include "common/err.h"
#include "grader/class/assignment.h"
#include "grader/class/plan.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

enum {
    MAX_DEVICES = 16,
    MAX_AGAINST = 32,
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
    FORMAT_AUTOLAB,
    FORMAT_HTML,
    FORMAT_MOODLE, /* these four in the order of enum worksheet_format */
    FORMAT_CANVAS,
    FORMAT_BLACKBOARD,
    FORMAT_BRIGHTSPACE
};

struct options {
    const char *command;
    const char *const *operands; /* the arguments after the command */
    unsigned noperands;
    const struct gpu_device *devices[MAX_DEVICES];
    unsigned ndevices;
    const char *file, *output, *exercise;
    const char *store, *roster, *assignment_path; /* for a class */
    const char *worksheet, *column;               /* an LMS's file for grades */
    const char *against[MAX_AGAINST];             /* other stores and folders, for similar */
    unsigned nagainst;
    const char *decisions[9];    /* by enum decision_kind; NULL = not given */
    const char *reason, *author; /* of a decision */
    unsigned line;
    const char *path;                    /* for list: a path through the book */
    const char *answers, *export_format; /* for a quiz */
    const char *listen, *origin;         /* for serve */
    const char *class_store, *tokens;    /* for serve: a class's page */
    /* The assignment of --assignment or of the store, once a command has read it; NULL = none. */
    const struct assignment *loaded_assignment;
    bool has_device;
    enum plan_layout layout;
    unsigned shard_number, shard_count; /* number: 1 to shard_count; count 0 = no shards */
    char seed[65];
    bool has_seed, dry_run, accept_unclear, complete, anonymous, diff, version, open;
    enum report_format format;
    bool no_jail, ignore_modelled_speed, machine_code, empty_caches, working_tree, quick, all,
        verbose, help, no_cache;
    unsigned only_case;       /* 0 = all */
    unsigned workers;         /* simulator threads; 0 = one for each core */
    unsigned jobs;            /* submissions graded at the same time; 0 = one for each core */
    struct buf *brief_report; /* for `watch`: receives a brief report for the screen; NULL = none */
    struct buf *captured_output; /* receives what cli_write_output() would print; NULL = none */
};

/* Parses the command line. Without --seed it draws a seed from the system. Returns false with a
 * message for the user. */
bool options_parse(struct options *o, int argc, char **argv, struct err *e);
const char *options_usage(void);
/* Appends the options, "--file --device …". */
void options_append_names(struct buf *out);
/* Adds the device that --device NAME selects. */
bool options_add_device(struct options *o, const char *name, struct err *e);
/* Returns options under which results are not reused; see options_reuse(). */
struct grade_options options_to_grade_options(const struct options *o, const struct gpu_device *d);
/* Returns how a student's grading may reuse a kept result: not with --seed or --no-cache. */
enum grade_reuse options_reuse(const struct options *o);
