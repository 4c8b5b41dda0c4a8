/* plan_names.h — reads the student out of the name that an LMS gives an entry; plan.c calls it. It
 * looks at names only; docs/instructor-guide.md lists their forms. */
#pragma once
#include "grader/class/plan.h"

#include <limits.h>

enum { PLAN_MAX_KEYS = 4, PLAN_NAME_SIZE = NAME_MAX + 16 };

/* What an entry's name says of its student; "" = nothing. */
struct plan_name {
    char id[PLAN_NAME_SIZE]; /* unique in the folder; the student's id if no row of the roster fits
                              */
    bool is_id_certain;      /* if the roster has the id, the other fields don't count */
    char roster_keys[PLAN_MAX_KEYS]
                    [PLAN_NAME_SIZE]; /* to look up on the roster, the surest first */
    char group[PLAN_NAME_SIZE];       /* the group's name, if the work is a group's */
    char file[PLAN_NAME_SIZE];        /* the student's name of the file; "" = the entry's */
    struct plan_version version;
    bool is_typed_text; /* typed into the LMS, not a file of the student */
};
/* Parses the entry's name in the format of a layout. Returns false if it has another format. */
bool plan_parse_name(enum plan_layout layout, const struct plan_entry *en, struct plan_name *out);
/* Returns the layout that the entry's name shows: that of an LMS, or PLAN_LAYOUT_folders. */
enum plan_layout plan_detect_layout(const struct plan_entry *en);
/* Copies the entry's name without the extension of an archive or a source. */
void plan_strip_extension(const struct plan_entry *en, char out[PLAN_NAME_SIZE]);
