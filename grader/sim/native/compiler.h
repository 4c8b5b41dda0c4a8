/* compiler.h — runs gcc in a sandbox, for compile.c. */
#pragma once
#include "common/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Compilations of one thread, which another thread may cancel: NATIVE_RUN_INIT. */
struct native_run {
    pthread_mutex_t lock;
    int liveness_fd; /* its closing ends the compiler that runs; -1 = none runs */
    bool is_cancelled;
};
#define NATIVE_RUN_INIT \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .liveness_fd = -1 }

/* Ends the compiler that runs, and makes later ones fail. */
void native_run_cancel(struct native_run *r);

/* Runs `simgpu compile-native` with those options, a NULL-terminated list: it has gcc compile the
 * file `source` in the compilers' sandbox, and writes a shared object into `object`. Adds the
 * processor time to `milliseconds`. */
bool native_compiler_run(struct native_run *r, const char *const *options, int source, int object,
                         uint64_t *milliseconds, struct err *e);
/* Appends what tells this machine's gcc from others; nothing if there is none. */
struct buf;
void native_compiler_identity(struct buf *out);
