/* gpu_report.h — what the parts of `grader gpu-report` share. gpu_report.c runs them, each until
 * its end; gpu_report_run_job.c is what is done for one exercise, in a process of its own;
 * gpu_report_write.c makes tables of what lies in the folder.
 *
 * All that is known of an exercise is one JSON object, its part, in FOLDER/parts/NAME.json. A part
 * is written anew with every row, and read again by the next run, which then does only what is
 * missing: so a report can be stopped and taken up. */
#pragma once
#include "common/buf.h"
#include "common/hash.h"
#include "grader/cli/options.h"

#include <jansson.h>

struct gpu_report {
    const struct options *o;
    struct grade_options options;
    const struct exercise **list; /* ends with NULL */
    unsigned n;
    const char *folder;      /* where it is written */
    char key[HASH_HEX_SIZE]; /* of grader, GPU and seed: parts of another are not taken up */
    json_t *header;          /* what is said of the whole */
    double deadline;         /* server_now() when the stage must be over */
};

/* ---- gpu_report_write.c ---- */

/* The exercise's part: as an earlier run left it, or empty. */
json_t *gpu_part_read(const struct gpu_report *r, const struct exercise *ex);
bool gpu_part_write(const struct gpu_report *r, const struct exercise *ex, json_t *part,
                    struct err *e);
/* Notes in a part why something is missing; what an earlier run had to say of it is forgotten. */
void gpu_part_add_failure(json_t *part, const char *description, const char *reason);
/* report.md and report.json of all parts. False with the reason: the folder cannot be written. */
bool gpu_report_write(const struct gpu_report *r, bool complete, struct err *e);

bool gpu_report_is_out_of_time(const struct gpu_report *r);

/* ---- the stages ---- */

/* Verdicts, times, libraries: all exercises, as many at a time as the machine has room for. */
void gpu_report_run_jobs(struct gpu_report *r);
/* Of one exercise. */
void gpu_report_run_job(const struct gpu_report *r, const struct exercise *ex);
