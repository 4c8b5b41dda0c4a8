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
    struct buf object;   /* the shared object, if ok */
    struct buf messages; /* the compiler's words, cleaned; warnings when ok */
    const char *why;     /* not ok, and not the compiler's refusal: "took longer than 60 s" (a literal), else NULL */
    enum jail_end end;   /* how nvcc ended */
    char key[HASH_HEX];  /* names the object */
};

/* `name` is the file's name as the student knows it, without folders; it appears in messages and line tables.
 * False: our own failure (no nvcc, no jail). A file that does not compile is no failure: `out->ok` is false.
 */
bool build_run(const char *name, const void *source, size_t size, struct build *out, struct err *e);
/* The same, and remembered without its compiler: build_run finds it on a machine that has none (`make
 * gpu-carry`). */
bool build_carry(const char *name, const void *source, size_t size, struct build *out, struct err *e);
/* From now on device code for this compute capability (such as 80) as well, if it is older than the grader's
 * own. */
void build_also_for(unsigned cc);
/* As on a machine that has none; for tests. */
void build_ignore_compiler(bool ignore);
void build_free(struct build *b);

/* ---- what ptxas says about registers ---- */

struct ptxas_kernel {
    char name[512]; /* mangled */
    uint32_t registers, spill_bytes;
};
struct ptxas {
    struct ptxas_kernel *kernels;
    unsigned n;
};
struct ptxas_job;
/* Starts ptxas for the architecture (such as 90) on the PTX of a built object, or takes the answer from the
 * cache. NULL where there is nothing to run; the caller gets no registers then, and the simulator's estimate
 * stands. */
struct ptxas_job *ptxas_start(const struct build *b, unsigned arch);
void ptxas_finish(struct ptxas_job *job, struct ptxas *out); /* waits; frees the job */
void ptxas_free(struct ptxas *p);
