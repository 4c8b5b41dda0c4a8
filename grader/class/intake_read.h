/* intake_read.h — reads the submissions of a group of students into memory; class_intake calls it.
 * Several processes read at a time, because the sandbox of an archive mostly waits for the kernel.
 * What a group takes is bounded: a student with much data is left to intake_read_student. */
#pragma once
#include "grader/class/intake.h"

enum { INTAKE_GROUP_STUDENTS = 256 };

struct intake_group {
    const struct plan *plan;
    unsigned first_student, n;
    unsigned first_pair[INTAKE_GROUP_STUDENTS + 1]; /* of each student, in plan->pairs */
    struct intake intakes[INTAKE_GROUP_STUDENTS];
    bool is_read[INTAKE_GROUP_STUDENTS]; /* false: call intake_read_student */
};

/* Reads all of a student's entries. */
void intake_read_student(const struct plan *p, unsigned student, const struct plan_pair *pairs,
                         unsigned n, struct intake *in);
/* Fills the group with the students from `first_student` on, whose pairs begin at `first_pair`. */
bool intake_read_group(struct intake_group *g, const struct plan *p, unsigned first_student,
                       unsigned first_pair, struct err *e);
void intake_free_group(struct intake_group *g);
