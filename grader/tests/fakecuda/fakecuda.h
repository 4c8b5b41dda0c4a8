/* fakecuda.h — a fake CUDA driver (and NVML, and cuBLAS) for the gpu backend. It checks how it
 * is called, and computes nothing unless a test gives it a device to forward to. The times that
 * it reports are made up: never use them as results.
 *
 * A stream is a thread that executes its queue in order, so the fake detects a caller that waits
 * for a queue that the caller itself holds. fakecuda_violations() returns the caller's mistakes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* What executes. Every member may be NULL: then memory is the host's and launches do nothing. */
struct fakecuda_hooks {
    uint64_t (*alloc)(size_t bytes);
    void (*free)(uint64_t address);
    bool (*write)(uint64_t to, const void *data, size_t bytes);
    bool (*read)(uint64_t from, void *data, size_t bytes);
    void *(*load)(const char *ptx);
    void (*unload)(void *module);
    bool (*symbol)(void *module, const char *name, uint64_t *address, size_t *bytes);
    void *(*kernel)(void *module, const char *name);
    /* 0 or a CUresult; *seconds: how long it pretends to have taken. */
    int (*launch)(void *kernel, const unsigned grid[3], const unsigned block[3], unsigned shared,
                  const void *params, size_t bytes, double *seconds);
    /* Copies a launch's parameters, each from its own address, to where PTX has them. Returns their
     * bytes, at most `capacity`. */
    size_t (*copy_params)(void *kernel, void **params, void *out, size_t capacity);
};

/* What cuTensorMapEncodeTiled of the fake writes: its arguments, for two dimensions. */
struct fakecuda_tensor_map {
    char mark[8]; /* "encoded" */
    uint64_t address, dim[2], stride;
    uint32_t box[2], element_stride[2], rank;
    int type, interleave, swizzle, l2_promotion, fill;
};

void fakecuda_set_hooks(const struct fakecuda_hooks *h); /* NULL = none */
/* Each launch takes `seconds` (without a launch hook) times 1 ± noise; every `every`-th one `slow`
 * times as long. */
void fakecuda_set_times(double seconds, double noise, unsigned every, double slow);
void fakecuda_set_throttle(unsigned long long reasons, unsigned others);
/* Sentences on what was done wrong since the last call, "" = nothing. */
const char *fakecuda_violations(void);
unsigned fakecuda_call_count(const char *name);
/* Within the library: work of `seconds` is put on the stream, which must be the caller's. */
void fakecuda_enqueue_work(const char *caller, void *stream, double seconds);
