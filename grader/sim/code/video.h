/* video.h — a video instruction on 2 or 4 parts, as decode_lower.c packs it into an op's imm and
 * exec_misc.c reads it. */
#pragma once
#include "grader/sim/code/insn.h"

/* Both lists are in the order of the enumerators below. */
#define VIDEO_VERBS       "add", "sub", "avrg", "absdiff", "min", "max", "set"
#define VIDEO_COMPARISONS "eq", "ne", "lt", "le", "gt", "ge"
enum { VIDEO_ADD, VIDEO_SUB, VIDEO_AVRG, VIDEO_ABSDIFF, VIDEO_MIN, VIDEO_MAX, VIDEO_SET };
enum { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE };

struct video_op {
    u8 verb, parts, comparison;
    /* sum: the parts' results are added to c. */
    u8 signed_d : 1, signed_a : 1, signed_b : 1, saturate : 1, sum : 1;
};
_Static_assert(sizeof(struct video_op) <= sizeof(s64), "it fits into imm");
