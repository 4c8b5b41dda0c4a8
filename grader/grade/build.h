/* build.h — a student's file to a shared object, by nvcc in a jail, through the build cache. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "grader/jail/jail.h"

#include <stdbool.h>
#include <stdint.h>

struct build {
    bool ok;
    bool cached;
    struct buf object; /* the shared object, if ok */
    struct buf
        ptx; /* what nvcc's device pass wrote, if ok; never looked into here, only given to ptxas */
    char image[HASH_HEX_SIZE]; /* digest of the fat binary that nvcc embedded: the only one that the
                             object may load */
    struct buf messages;       /* the compiler's words, cleaned; warnings when ok */
    const char *reason;        /* not ok, and not the compiler's refusal: "took longer than 60 s" (a
                               literal),        else NULL */
    enum jail_outcome end;     /* how nvcc ended */
    char key[HASH_HEX_SIZE];   /* names the object */
};

struct build_source {
    const char *name; /* the file's, as the student knows it, without folders; it appears in
                         messages and line tables */
    const void *text;
    size_t size;
    bool sm_90a; /* uses what compute capability 9.0 alone has (exercise.h) */
};

/* False: our own failure (no nvcc, no jail). A file that does not compile is no failure: `out->ok`
 * is false. */
bool build_run(const struct build_source *s, struct build *out, struct err *e);
/* The same, and remembered without its compiler: build_run finds it on a machine that has none
 * (`make gpu-carry`). */
bool build_run_portable(const struct build_source *s, struct build *out, struct err *e);
/* From now on machine code for this compute capability (such as 80) as well, by the toolkit's
 * ptxas: for a GPU that is present. */
void build_add_target(unsigned cc);
/* Whether builds disassemble what ptxas makes, and times are modelled from that: not, until
 * somebody asks for it. */
void build_enable_disassembly(bool on);
/* As on a machine that has none; for tests. */
void build_ignore_compiler(bool ignore);
void build_free(struct build *b);
/* Did the machine, and no limit of ours, end a compiler? That is nobody's fault who handed in. */
bool build_was_killed_by_os(const struct jail_result *r);
