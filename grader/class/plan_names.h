/* plan_names.h — reads the student out of the name that an LMS gives an entry; plan.c calls it. It
 * looks at names only; docs/instructor-guide.md lists their forms. */
#pragma once
#include "grader/class/plan.h"

#include <limits.h>

enum { PLAN_MAX_KEYS = 4, PLAN_NAME_SIZE = NAME_MAX + 16 };

/* A student as an entry's name has it; "" = unused. */
struct plan_name {
    char id[PLAN_NAME_SIZE];                  /* of somebody who isn't on the roster */
    bool is_certain;                          /* if the roster has the id, nothing else counts */
    char keys[PLAN_MAX_KEYS][PLAN_NAME_SIZE]; /* the names to look for on the roster */
    char group[PLAN_NAME_SIZE];               /* the name of a group, if it is one's work */
    char file[PLAN_NAME_SIZE];                /* the student's name of the file; "" = the entry's */
    struct plan_version version;
    bool is_typed_text; /* typed into the LMS, not a file of the student */
};
/* Parses the entry's name in the format of a layout. Returns false if it has another format. */
bool plan_parse_name(enum plan_layout layout, const struct plan_entry *en, struct plan_name *out);
/* Returns the layout that the entry's name shows: that of an LMS, or PLAN_folders. */
enum plan_layout plan_detect_layout(const struct plan_entry *en);
/* Copies the entry's name without the extension of an archive or a source. */
void plan_strip_extension(const struct plan_entry *en, char out[PLAN_NAME_SIZE]);
