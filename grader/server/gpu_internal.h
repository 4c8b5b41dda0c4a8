/* gpu_internal.h — types and functions shared by the files of the gpu backend. */
#pragma once
#include "common/arena.h"
#include "grader/server/backend_gpu.h"
#include "grader/server/driver.h"
#include "grader/server/protocol.h"

#include <pthread.h>

struct gpu_block { /* an allocation in the pool */
    uint64_t start, bytes;
    unsigned char *host; /* pinned memory that the block stands for; else NULL */
};

/* The streams of a round (gpu_streams.c). */
struct gpu_streams {
    void *stream[SIM_MAX_STREAMS],
        *active[SIM_MAX_STREAMS]; /* begun: that have commands in this round; NULL = none yet */
    uint32_t waited_clock[SIM_MAX_STREAMS][SIM_MAX_STREAMS]; /* the last command of another
                                                              * stream that each has waited for */
    uint32_t host_clock[SIM_MAX_STREAMS];                    /* the same for the host */
    struct gpu_event {
        uint32_t stream, number;
        void *event;
    } * events; /* recorded after commands with waiters; the first `nevents` belong to this replay,
                  the others can be reused */
    unsigned nevents, events_created, capacity;
    uint32_t current, number; /* the current command */
    bool has_waiter;
};

struct gpu_kernel {
    struct gpu_module *module;
    void *function;
    char *name;
    struct sim_kernel_info info;
    unsigned dynamic_shared; /* maximum set in the driver */
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
    struct gpu_device device_desc; /* the table's row, overridden by the driver's values */
    struct gpu_info info;
    uint64_t pool, flush_buffer, flush_bytes;
    struct gpu_block *blocks; /* sorted */
    unsigned nblocks, block_capacity;
    struct gpu_module *modules;
    int sticky_error; /* the context's error; nothing works any more */
    struct buf output;
    /* The held queue: */
    bool queue_held;
    pthread_mutex_t lock;
    pthread_cond_t gate_opened;
    bool gate_open;
    struct gpu_streams streams;
    struct {
        unsigned char *data;
        uint64_t capacity;
    } host_buffers[32]; /* pinned memory for buffers, in the order of their allocation after each
                         * reset */
    unsigned nhost_buffers;
    unsigned char *staging; /* data copied to the device while the queue is held */
    size_t staging_used;
};
enum { STAGING_BYTES = 32 << 20 };

/* backend_gpu.c: notes an error that poisons the context, and returns it as a cudaError_t. */
int gpu_check_error(struct backend_gpu *g, int error);
/* Waits for the stream, with device printf taken from the standard output. */
bool gpu_upload(struct backend_gpu *g, uint64_t to, const void *data, uint64_t bytes);
int gpu_wait(struct backend_gpu *g);

/* Releases the held queue. */
void gpu_release_queue(struct backend_gpu *g);

/* gpu_streams.c: returns the next command's stream: in a timed replay the recorded one, otherwise
 * the one stream. */
void *gpu_stream(struct backend_gpu *g);
void gpu_set_stream_clock(struct backend *b, const struct sim_stream_clock *o);
void gpu_streams_begin(struct backend_gpu *g);
int gpu_streams_join(struct backend_gpu *g); /* makes the one stream wait for all others; returns
                                              * the driver's error */
void gpu_streams_close(struct backend_gpu *g);

/* gpu_module.c */
int gpu_load(struct backend *b, const void *image, size_t size, void **module, struct err *e);
void gpu_unload(struct backend *b, void *module);
bool gpu_find_kernel(struct backend *b, void *module, const char *name, struct backend_kernel *out);
bool gpu_find_symbol(struct backend *b, void *module, const char *name, uint64_t *address,
                     uint64_t *bytes);
bool gpu_module_reset(struct backend_gpu *g, struct gpu_module *m);
/* The module variable that holds the range. */
bool gpu_in_variable(const struct backend_gpu *g, uint64_t address, uint64_t bytes, uint64_t *start,
                     uint64_t *size);

/* gpu_launch.c */
int gpu_check_launch(struct backend *b, const struct backend_launch *l, struct err *e);
void gpu_launch(struct backend *b, const struct backend_launch *l, struct backend_result *out);
/* gpu_tensor_map.c. Maps among the parameters of a launch, in the runtime's layout. */
bool gpu_has_tensor_map(const struct backend_launch *l);
/* Overwrites those in `params`, a copy of the launch's, by the GPU's. Returns a CUresult. */
int gpu_encode_tensor_maps(const struct backend_gpu *g, const struct backend_launch *l,
                           void *params);
unsigned gpu_occupancy(struct backend *b, const void *kernel, unsigned threads,
                       unsigned dynamic_shared);
