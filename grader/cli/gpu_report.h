/* gpu_report.h — shared by the files of `grader gpu-report`: gpu_report.c schedules a job for each
 * exercise, gpu_job.c does the job in a process of its own, gpu_report_write.c writes the tables.
 *
 * All rows of an exercise are one JSON object, its part, in FOLDER/parts/NAME.json. A job rewrites
 * its part after every row. A later run reads it and does only what is missing, so a report can be
 * interrupted and continued. */
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
    const char *folder;      /* of the report */
    char key[HASH_HEX_SIZE]; /* hash of grader, GPU and seed; parts with another key are ignored */
    json_t *header;          /* the device and its roofline */
    double deadline;         /* the value of server_now() at which no new row starts */
};

/* The key of the starter file in report.json; the model solution's key is "" (docs/json.md). */
#define GPU_STARTER_VERSION "skeleton"

/* ---- gpu_report_write.c ---- */

/* Returns the name of a version in tables and messages; it lives as long as `version`. */
const char *gpu_version_title(const char *version);

/* Returns the exercise's part as an earlier run left it, or an empty one; the caller owns it. */
json_t *gpu_part_read(const struct gpu_report *r, const struct exercise *ex);
bool gpu_part_write(const struct gpu_report *r, const struct exercise *ex, json_t *part,
                    struct err *e);
/* Records in a part why a row is missing; it replaces an earlier reason. */
void gpu_part_add_failure(json_t *part, const char *description, const char *reason);
/* Writes report.md and report.json from all parts; false if the folder isn't writable. */
bool gpu_report_write(const struct gpu_report *r, bool complete, struct err *e);

/* Returns true after the deadline: no further version starts. */
bool gpu_report_is_out_of_time(const struct gpu_report *r);

/* ---- the stages ---- */

/* Fills the parts of all exercises, as many at the same time as cores and GPU memory allow. */
void gpu_report_run_jobs(struct gpu_report *r);
/* Fills the part of one exercise: verdicts, times, libraries. */
void gpu_report_run_job(const struct gpu_report *r, const struct exercise *ex);
