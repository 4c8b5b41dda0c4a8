/* build.h — compiles a student's file to a shared object with nvcc in a sandbox, through the build
 * cache. */
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
    struct buf ptx;    /* from nvcc's device pass, if ok; passed to ptxas, never parsed here */
    /* Digest of the fat binary that nvcc embedded: the only one that the object may load. */
    char image[HASH_HEX_SIZE];
    struct buf messages; /* of the compiler, cleaned; warnings if ok */
    /* A literal such as "took longer than 60 s", if a limit ended the compiler; else NULL. */
    const char *reason;
    enum jail_outcome end;   /* how nvcc ended */
    char key[HASH_HEX_SIZE]; /* names the object */
};

struct build_source {
    const char *name; /* of the file, without folders; appears in messages and line tables */
    const void *text;
    size_t size;
    bool sm_90a; /* uses features of compute capability 9.0 only (exercise.h) */
};

/* Compiles the source. Returns false on our own failure (no nvcc, no sandbox). If the file does not
 * compile, returns true with `out->ok` false. */
bool build_run(const struct build_source *s, struct build *out, struct err *e);
/* Sets the key of the source's build, a digest of everything that the object depends on, without
 * compiling. Returns false without a compiler. */
bool build_find_key(const struct build_source *s, char key[HASH_HEX_SIZE]);
/* Does the same as build_run(), also cached independently of the compiler, so that build_run()
 * finds it on a machine without one (`make gpu-carry`). */
bool build_run_portable(const struct build_source *s, struct build *out, struct err *e);
/* Makes later builds contain machine code for this compute capability (such as 80) too, for a GPU
 * in this machine. */
void build_add_target(unsigned cc);
/* Makes builds disassemble the output of ptxas, to model times from machine code. Off by default.
 */
void build_enable_disassembly(bool on);
/* Acts as on a machine without a compiler; for tests. */
void build_ignore_compiler(bool ignore);
/* Makes later builds use the precompiled header of host_header.h and trim headers, or run nvcc's
 * steps as nvcc lists them; for tests. */
void build_use_shortcuts(bool on);
void build_free(struct build *b);
/* Returns true if the OS, not one of our limits, killed the compiler. Don't blame the submission.
 */
bool build_was_killed_by_os(const struct jail_result *r);
/* Returns true if a shell found that it may not execute the compiler, or that there is none. */
bool build_could_not_start(const struct jail_result *r);
/* Returns true if one of its processes computed for BUILD_SECONDS, or all took
 * BUILD_WALL_SECONDS. */
bool build_was_out_of_time(const struct jail_result *r);
