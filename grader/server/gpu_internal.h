/* gpu_internal.h — what the files of the gpu backend share. */
#pragma once
#include "common/arena.h"
#include "grader/server/backend_gpu.h"
#include "grader/server/driver.h"
#include "grader/server/protocol.h"

#include <pthread.h>

struct gpu_block { /* an allocation in the pool */
    uint64_t start, bytes;
};

struct gpu_kernel {
    struct gpu_module *module;
    void *function;
    char *name;
    struct sim_kernel_info info;
    unsigned dynamic_shared; /* that the driver was told to allow */
    struct gpu_kernel *next;
};

struct gpu_module {
    void *handle;
    struct arena arena; /* PTX and what was parsed of it */
    struct ptx_module *ptx;
    struct gpu_kernel *kernels;
    struct gpu_variable {
        uint64_t address, bytes;
        unsigned char *initial;
    } * variables;
    unsigned nvariables;
    struct gpu_module *next;
};

struct backend_gpu {
    struct backend base;
    struct gpu_options options;
    struct driver d;
    int device;
    void *context, *stream, *start, *stop;
    struct gpu_device row; /* of the table, with what the driver says put over it */
    struct gpu_info info;
    uint64_t pool, flush, flush_bytes;
    struct gpu_block *blocks; /* sorted */
    unsigned nblocks, capacity;
    struct gpu_module *modules;
    int poison; /* the context's error; nothing works any more */
    struct buf output;
    /* A queue that is held back: */
    bool queueing;
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    unsigned char *pinned; /* what is copied to the device while the queue is held */
    size_t pinned_used;
};
enum { PINNED_BYTES = 32 << 20 };

/* backend_gpu.c: notes an error that poisons the context, and returns it as a cudaError_t. */
int gpu_fail(struct backend_gpu *g, int error);
/* Waits for the stream, with device printf taken from the standard output. */
bool gpu_upload(struct backend_gpu *g, uint64_t to, const void *data, uint64_t bytes);
int gpu_wait(struct backend_gpu *g);

/* gpu_module.c */
int gpu_load(struct backend *b, const void *image, size_t size, void **module, struct err *e);
void gpu_unload(struct backend *b, void *module);
bool gpu_find_kernel(struct backend *b, void *module, const char *name, struct backend_kernel *out);
bool gpu_find_symbol(struct backend *b, void *module, const char *name, uint64_t *address, uint64_t *bytes);
bool gpu_module_reset(struct backend_gpu *g, struct gpu_module *m);
/* The module variable that holds the range. */
bool gpu_in_variable(const struct backend_gpu *g, uint64_t address, uint64_t bytes, uint64_t *start, uint64_t *size);

/* gpu_launch.c */
int gpu_check(struct backend *b, const struct backend_launch *l, struct err *e);
void gpu_launch(struct backend *b, const struct backend_launch *l, struct backend_result *out);
unsigned gpu_occupancy(struct backend *b, const void *kernel, unsigned threads, unsigned dynamic_shared);
