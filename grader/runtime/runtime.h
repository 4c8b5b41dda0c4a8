/* runtime.h — what the parts of the remote runtime share. The runtime is linked into the student's program in place
 * of NVIDIA's libcudart; it includes the toolkit's own headers, so that every signature and layout is theirs. */
#pragma once
#include "grader/runtime/client.h"

#include <cuda_runtime_api.h>

#include <stdbool.h>

/* ---- errors (error.c) ---- */

/* Remembers an error for cudaGetLastError, and returns it. */
/* Also tells a grader which call failed: nobody may look at what it returned. */
#define wb_return(error) wb_return_from((error), __func__)
cudaError_t wb_return_from(int error, const char *call);

/* ---- modules (modules.c) ---- */

struct wb_module;

struct wb_function {
    struct wb_function *next;
    const void *host; /* the stub whose address stands for the kernel */
    const char *name; /* mangled */
    struct wb_module *module;
    uint64_t kernel; /* 0 = not looked up yet */
    int error;       /* why it cannot be */
    struct wb_rep_kernel_find info;
    struct wb_param *params;
    int carveout;
    uint32_t cluster[3]; /* that cudaFuncSetAttribute asked for */
    bool large_clusters;
};

/* By host stub or by handle; looks the kernel up on the device at first use. NULL with `*error`. */
struct wb_function *wb_function(const void *stub_or_handle, int *error);
/* Address and size of a __device__ or __constant__ variable on the device. */
int wb_symbol(const void *host, uint64_t *address, uint64_t *bytes);

/* ---- memory (memory.c, managed.c, host_memory.c) ---- */

/* In a variable of device code whose address was asked for: a real GPU has constants outside the range of its memory. */
bool wb_in_symbol(const void *p);
bool wb_is_device(const void *p);
/* Device memory that is mapped at the same address in this process. */
int wb_managed_add(uint64_t address, uint64_t bytes);
bool wb_managed_remove(uint64_t address);
bool wb_is_managed(const void *p);
void wb_managed_to_device(void); /* before the device looks at memory */
/* Kinds: of host memory that this runtime gave out. */
enum wb_host_kind { WB_HOST_UNKNOWN, WB_HOST_PINNED, WB_HOST_REGISTERED };
enum wb_host_kind wb_host_kind(const void *p);
int wb_write(uint64_t to, uint64_t pitch, const void *from, size_t from_pitch, size_t width, size_t rows);
int wb_read(void *to, size_t to_pitch, uint64_t from, uint64_t pitch, size_t width, size_t rows);
int wb_copy_any(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                enum cudaMemcpyKind kind);
int wb_fill(void *to, size_t pitch, uint32_t value, unsigned unit, size_t width, size_t rows);

/* array.c: cudaMemcpy3D where an array takes part. */
int wb_copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t s);

/* ---- commands (command.c): what a stream executes, now or, captured, when its graph is launched ---- */

enum wb_kind { WB_LAUNCH, WB_COPY, WB_FILL, WB_HOST, WB_RECORD, WB_EMPTY, WB_CHILD };

struct wb_command {
    enum wb_kind kind;
    union {
        struct {
            const void *func; /* stub or handle */
            dim3 grid, block;
            size_t shared;
            cudaStream_t stream;
            bool cooperative;
            uint32_t cluster; /* as in the message */
            uint8_t *params;  /* packed; the command's own only in a graph */
            uint32_t param_bytes;
        } launch;
        struct {
            void *to;
            const void *from;
            size_t to_pitch, from_pitch, width, rows;
            enum cudaMemcpyKind kind;
        } copy;
        struct {
            void *to;
            size_t pitch, width, rows; /* width in elements */
            uint32_t value, unit;      /* bytes of an element: 1, 2 or 4 */
        } fill;
        struct {
            cudaHostFn_t function;
            void *data;
        } host;
        cudaEvent_t event;
        cudaGraph_t child;
    };
};

int wb_run(const struct wb_command *c);
/* Runs it, or adds it to the graph that the stream is captured into. Checks the stream. */
int wb_issue(cudaStream_t s, const struct wb_command *c);
/* Kernel parameters from pointers to each, into WB_PARAMS bytes. */
int wb_pack(const struct wb_function *f, void *const *args, uint8_t *out);

/* ---- graphs (graph.c) ---- */

int wb_graph_run(cudaGraph_t g);
/* Appends a copy of the command; `*node` may be NULL. */
int wb_graph_add(cudaGraph_t g, const struct wb_command *c, cudaGraphNode_t const *deps, size_t ndeps,
                 cudaGraphNode_t *node);

/* ---- streams (stream.c) ---- */

/* What a stream is being captured into. */
enum { WB_CAPTURE_DEPS = 32 };
struct wb_capture {
    cudaGraph_t graph;                     /* NULL = not captured */
    bool origin;                           /* began here, rather than through an event */
    cudaGraphNode_t last[WB_CAPTURE_DEPS]; /* what the next node depends on */
    size_t nlast;
};
/* NULL for the default streams, which cannot be captured. */
struct wb_capture *wb_capture(cudaStream_t s);
/* Ends the capture of all streams that are captured into `g`. */
void wb_capture_end(cudaGraph_t g);
void wb_event_record_now(cudaEvent_t e);

int wb_check_stream(cudaStream_t s);
/* Prints what device printf has written. */
void wb_flush_output(void);
/* A synchronisation point: the sticky error if there is one. */
int wb_sync(void);

/* ---- device (device.c) ---- */

/* NULL with `*error` where there is no device. */
const struct wb_rep_device_info *wb_device(int *error);

/* Says once that a call is not supported. */
cudaError_t wb_unsupported(const char *call);
/* Reserves the device's addresses and catches host code that touches them (managed.c). */
void wb_reserve(uint64_t start, uint64_t bytes);
