/* tune.h — the parameters that a source file declares for `grader tune`, and the results of their
 * combinations.
 *
 *   // tune: TILE 16 32 64
 *   // tune: THREADS 128 256 512 if THREADS <= TILE * TILE
 *
 * A parameter is a constant of the file: `constexpr int TILE = 32;` or `#define TILE 32`. For each
 * combination the grader rewrites the constants in the text, as a student would by hand, because a
 * compiler option can't define a constexpr. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "grader/grade/result.h"

#include <limits.h>
#include <stdbool.h>

enum {
    TUNE_MAX_PARAMETERS = 8,
    TUNE_MAX_VALUES = 32,
    TUNE_MAX_COMBINATIONS = 512,
    TUNE_MAX_NAME = 48,
    TUNE_MAX_LABEL = 160
};

struct tune_parameter {
    char name[TUNE_MAX_NAME], condition[200];
    long values[TUNE_MAX_VALUES];
    unsigned nvalues;
    long current; /* the file's own value */
};
struct tune_space {
    struct tune_parameter parameters[TUNE_MAX_PARAMETERS];
    unsigned n;
    /* The combinations that the conditions allow; tune_space_free frees them. */
    long (*combinations)[TUNE_MAX_PARAMETERS];
    /* current: the index of the file's own combination, or ncombinations if it is none of them. */
    unsigned ncombinations, current;
};

/* Reads the declarations of a source. Returns false with an error that names the faulty line. */
bool tune_space_read(const struct buf *source, struct tune_space *s, struct err *e);
void tune_space_free(struct tune_space *s);
/* Writes "TILE=16 THREADS=128". */
void tune_label(const struct tune_space *s, unsigned combination, char out[TUNE_MAX_LABEL]);
/* Appends the source with the combination's values. */
void tune_rewrite(const struct buf *source, const struct tune_space *s, unsigned combination,
                  struct buf *out);
/* Evaluates a condition over the parameters; false with an error if it is no valid condition. */
bool tune_eval_condition(const char *text, const struct tune_space *s, const long *values,
                         bool *is_true, struct err *e);

/* The result of a combination on a device. */
struct tune_row {
    unsigned combination, device;
    bool done;
    char verdict[16], speed_kind[16];
    double us; /* 0 = unknown */
    struct sim_counters counters;
};

/* The state file has a line for each finished row, so that a later run continues an interrupted
 * sweep. */
bool tune_state_path(const char *exercise, const char *key, char out[PATH_MAX], struct err *e);
void tune_state_read(const char *path, struct tune_row *rows, unsigned n);
bool tune_state_append(const char *path, unsigned index, const struct tune_row *row, struct err *e);

/* The page: a curve for each device, and the rows. */
struct tune_page {
    const char *id, *file;
    const struct tune_space *space;
    const struct tune_row *rows; /* by device, then by combination */
    const char *const *devices;
    unsigned ndevices;
};
struct options;
/* Receives a row as it finishes; `reason`: why it has no time, "" = unknown. */
typedef void tune_row_function(void *user, const struct tune_page *p, const struct tune_row *row,
                               const char *reason);
/* Sweeps the parameters of the exercise that the options name, on their devices; continues an
 * interrupted sweep (cmd_tune.c). */
bool tune_sweep(const struct options *o, tune_row_function *on_row, void *user, struct err *e);
void tune_write_page(const struct tune_page *p, struct buf *out);
/* Returns the fastest correct row of a device; NULL = none. */
const struct tune_row *tune_best(const struct tune_page *p, unsigned device);
const struct tune_row *tune_row_at(const struct tune_page *p, unsigned device,
                                   unsigned combination);
/* Appends a line for each counter that differs by a tenth or more, the largest change first. */
void tune_put_changes(const struct tune_row *from, const struct tune_row *to, unsigned max_lines,
                      struct buf *out);
