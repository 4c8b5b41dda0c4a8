/* gpu_report.h — what the parts of `grader gpu-report` share. gpu_report.c runs them, each within its share of
 * the time; gpu_sections.c has the parts; gpu_report_write.c writes what there is after every exercise. */
#pragma once
#include "common/buf.h"
#include "grader/cli/options.h"

#include <jansson.h>

struct report {
    const struct options *o;
    struct grade_options go;
    const struct exercise **list; /* ends with NULL */
    const char *folder;           /* where it is written */
    struct buf text, not_done;    /* Markdown */
    json_t *json;
    double end;          /* server_now() when the part must be over */
    unsigned steps_left; /* of the part's measurements, which share what is left of its time */
    double *answer;      /* by exercise: the model answer's measured seconds, 0 = not measured */
    bool ceilings;       /* have been measured */
    char compiled_by[64];
};

/* A part: its heading with the table's head, its seconds of the whole, what it does. */
struct report_part {
    const char *title, *head;
    double seconds;
    void (*run)(struct report *r);
};
const struct report_part *gpu_report_parts(unsigned *n);

/* False with the reason: the folder cannot be written. */
bool gpu_report_write(struct report *r, bool complete, struct err *e);
void gpu_report_cannot(struct report *r, const char *what, const char *why);
/* After each exercise: whatever stops the program later, this much is there. */
void gpu_report_save(struct report *r);
bool gpu_report_late(const struct report *r);
