/* runtime.h — interfaces between the files of the runtime. The runtime is linked into the student's
 * program instead of NVIDIA's libcudart. It includes the toolkit's own headers, so that every
 * signature and layout is NVIDIA's. */
#pragma once
#include "grader/runtime/client.h"

#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdbool.h>

#if CUDART_VERSION < 12010
typedef struct CUkern_st *cudaKernel_t;
#endif

/* ---- errors (error.c) ---- */

/* Remembers an error for cudaGetLastError, and returns it. Also reports the failed call with its
 * source line, since the program may ignore the returned error: to the grader, or on standard error
 * (error.c). */
#define wb_return(error) wb_return_from((error), __func__)
cudaError_t wb_return_from(int error, const char *call);
/* Returns `error`, and keeps a sentence on what is wrong with the current call and what to do. */
int wb_refuse(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool wb_has_refusal(void); /* True if the current call has such a sentence. */
/* Sets the calling instruction of the next call that returns, if the call stack does not lead
 * there. */
void wb_set_call_site(const void *return_address);
/* Executes a call for the program; failures are reported under this function's name. */
#define wb_forward(call)                                \
    ({                                                  \
        const char *wb_outer = wb_begin_call(__func__); \
        cudaError_t wb_error = (call);                  \
        wb_end_call(wb_outer);                          \
        wb_error;                                       \
    })
/* Begin and end a call, whose name errors show. Begin returns the call around it. */
const char *wb_begin_call(const char *name);
void wb_end_call(const char *outer);

/* source_line.c: finds the line of the program's source that called the runtime: the one that the
 * return address belongs to, or, if that is NULL, the innermost one on the call stack. */
struct line_position;
/* Finds the source line of a call by its return address. */
bool wb_find_source_line(const void *return_address, struct line_position *out);
/* Returns the line of the program that called the runtime; 0 = unknown. It remembers call sites, so
 * that every command may ask. */
unsigned wb_call_line(void);
/* Finds the innermost source line on the call stack, for a signal's handler: takes no lock. */
bool wb_find_interrupted_line(struct line_position *out);

/* ---- modules (modules.c) ---- */

struct wb_module;

struct wb_function {
    struct wb_function *next;
    const void *stub; /* the stub whose address stands for the kernel */
    const char *name; /* mangled */
    struct wb_module *module;
    struct wb_function *base; /* its record for device 0; NULL in that one */
    struct wb_function
        *on_others[WB_MAX_DEVICES - 1]; /* of devices 1…; NULL = not used there yet */
    uint64_t kernel_id;                 /* 0 = not looked up yet */
    int error;                          /* why the lookup failed */
    struct wb_rep_kernel_find info;
    struct wb_param *params;
    int carveout;
    uint32_t cluster[3];               /* set by cudaFuncSetAttribute */
    bool nonportable_cluster;          /* also set by it */
    bool has_valid_launch;             /* The server has accepted valid_launch. */
    struct wb_req_launch valid_launch; /* its grid, or a smaller one, needs no check */
};

/* ---- device code that the program loads itself (library.c) ---- */

/* The image is PTX text, or a fat binary, as nvcc and NVRTC write it. */
int wb_library_load(struct wb_module **out, const void *code);
int wb_library_load_file(struct wb_module **out, const char *path);
int wb_library_unload(struct wb_module *m);
int wb_library_get_kernel(struct wb_function **out, struct wb_module *m, const char *name);
int wb_library_get_variable(struct wb_module *m, const char *name, uint64_t *address,
                            uint64_t *bytes);
/* modules.c */
struct wb_module *wb_module_new(const void *image, size_t size, int *error);
void wb_module_unload(struct wb_module *m);
struct wb_function *wb_function_new(struct wb_module *m, const char *name, int *error);
int wb_module_get_variable(struct wb_module *m, const char *name, uint64_t *address,
                           uint64_t *bytes);

/* Finds a kernel by host stub or handle, and looks it up on the current device at first use.
 * Returns NULL with `*error` on failure. */
struct wb_function *wb_get_function(const void *stub_or_handle, int *error);
/* Returns the handle for all devices. */
const void *wb_function_handle(const struct wb_function *f);
/* Gives the host access to the module's __managed__ variables; returns true if it has any. */
bool wb_map_managed_variables(struct wb_module *m);
/* Returns the name of the variable with this host counterpart, or NULL. */
const char *wb_device_variable_name(const void *host);
/* Address and size of a __device__ or __constant__ variable on the device. */
int wb_get_symbol(const void *host, uint64_t *address, uint64_t *bytes);

/* ---- memory (memory.c, shared_memory.c, host_memory.c, ranges.c) ---- */

/* Device memory; memory that host and device share, at the same address on both sides; host memory
 * that is registered. */
enum wb_memory_kind { WB_MEMORY_DEVICE, WB_MEMORY_MANAGED, WB_MEMORY_PINNED, WB_MEMORY_REGISTERED };
enum wb_advice {
    WB_ADVICE_READ_MOSTLY,
    WB_ADVICE_PREFERRED_LOCATION,
    WB_ADVICE_ACCESSED_BY,
    WB_ADVICE_LAST_PREFETCH,
    WB_ADVICE_COUNT
};
enum { WB_RANGE_VARIABLE = 1 << 30 /* among flags: a variable of device code */ };
struct wb_range {
    uint64_t start, bytes;
    enum wb_memory_kind kind;
    unsigned flags;                  /* of cudaHostAlloc and cudaHostRegister */
    uint64_t device_start;           /* registered: the device's address of `start`; 0 = none */
    unsigned device;                 /* that was current when it was allocated */
    struct CUmemPoolHandle_st *pool; /* that it is of, or NULL */
    int advice[WB_ADVICE_COUNT];     /* of managed memory: locations; -1 = the host, -2 = none */
};
/* The table of allocated ranges: adds one; finds the one that holds an address; removes one. */
bool wb_range_add(uint64_t start, uint64_t bytes, enum wb_memory_kind kind, unsigned flags);
bool wb_range_find(const void *p, struct wb_range *out);
bool wb_range_remove(uint64_t start);
void wb_range_set_pool(const void *start, struct CUmemPoolHandle_st *pool);
/* Records that bytes of a pool were freed. Call it between wb_lock and wb_unlock. */
void wb_pool_account_free(struct CUmemPoolHandle_st *pool, uint64_t bytes);
int wb_allocate(void **out, size_t bytes);
int wb_allocate_ordered(void **out, size_t bytes, cudaStream_t s); /* as a command of the stream */
void wb_range_set_device(uint64_t start, uint64_t device);
void wb_range_set_advice(const void *p, enum wb_advice advice, int value);
bool wb_range_overlaps(uint64_t start, uint64_t bytes); /* true if some range overlaps these
                                                         * bytes */
bool wb_range_find_kind(enum wb_memory_kind kind, struct wb_range *out); /* any of that kind */
/* Removes all ranges of the current device but variables, after the device has freed them. */
void wb_range_clear(void);
uint64_t wb_page_size(void); /* bytes of a page of this machine */
/* Marks pages as being replaced: a thread that writes there waits until the range is (0, 0). */
void wb_set_moving_range(uint64_t start, uint64_t bytes);
/* register.c: puts the device's address in place of registered memory's in a launch's parameters.
 */
void wb_unregister_all(void);
bool wb_needs_translation(void);
bool wb_translate_pointers(uint8_t *params, uint32_t bytes);
/* Returns true if `rows` rows of `width` bytes, `pitch` bytes apart, lie in one known range. */
bool wb_range_contains(const void *p, size_t pitch, size_t width, size_t rows);

/* Returns a freed range, if nothing was allocated there since. The last 256 are known. */
bool wb_range_find_freed(const void *p, struct wb_range *out);

/* ---- sentences on wrong pointers (diagnosis.c) ---- */

/* Returns `out`, a noun for the memory that a pointer leads to. */
const char *wb_describe_pointer(const void *p, char *out, size_t size);
/* wb_refuse with the pointer's memory and advice on it; the same for a copy whose kind does not fit
 * its pointers. */
int wb_refuse_pointer(int error, const void *p, const char *advice);
/* The same for a copy that the device refused, with the memory of both pointers. */
int wb_refuse_copy(int error, const void *to, const void *from, size_t width, size_t rows);
int wb_refuse_copy_kind(const void *to, const void *from, enum cudaMemcpyKind kind);

/* True in a variable of device code whose address the program queried: a GPU has constants outside
 * its memory range. */
bool wb_is_device_variable(const void *p, unsigned *device); /* device: its, or NULL */
bool wb_is_device(const void *p); /* true for device addresses, shared memory included */
bool wb_is_managed(const void *p);
bool wb_is_pinned(const void *p);
static inline bool wb_is_shared(const void *p) { return wb_is_managed(p) || wb_is_pinned(p); }
/* Memory that another process allocated, and cudaIpcOpenMemHandle returned (ipc.c). */
bool wb_ipc_is_open(const void *p);
/* Memory that host and device share. */
int wb_shared_alloc(void **out, size_t bytes, enum wb_memory_kind kind, unsigned flags);
/* Gives the host access to existing device data, such as a variable. */
int wb_shared_map(uint64_t address, uint64_t bytes, enum wb_memory_kind kind, unsigned flags);
int wb_shared_free(void *p);
int wb_write(uint64_t to, uint64_t pitch, const void *from, size_t from_pitch, size_t width,
             size_t rows);
int wb_read(void *to, size_t to_pitch, uint64_t from, uint64_t pitch, size_t width, size_t rows);
/* If not `async`, later changes of the host's memory have no effect. */
int wb_copy_any(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                size_t rows, enum cudaMemcpyKind kind, bool async);
int wb_fill(void *to, size_t pitch, uint32_t value, unsigned unit, size_t width, size_t rows);

/* ---- commands (command.c): a stream executes them now, or at its graph's launch if captured
 * ---- */

enum wb_command_kind {
    WB_LAUNCH,
    WB_COPY,
    WB_FILL,
    WB_HOST,
    WB_RECORD,
    WB_WAIT,
    WB_EMPTY,
    WB_CHILD,
    WB_ALLOC,
    WB_FREE,
    WB_CONDITIONAL
};

struct wb_command {
    enum wb_command_kind kind;
    unsigned device; /* of a node of a graph: the one that was current when it was added */
    union {
        struct {
            const void *func; /* stub or handle */
            dim3 grid, block;
            size_t shared;
            cudaStream_t stream;
            bool cooperative;
            uint32_t cluster; /* as in the message */
            uint8_t *params;  /* packed; owned by the command only in a graph */
            uint32_t param_bytes;
        } launch;
        struct {
            void *to;
            const void *from;
            size_t to_pitch, from_pitch, width, rows;
            enum cudaMemcpyKind kind;
            bool async;
            size_t depth, to_slice,
                from_slice; /* number of repetitions and their distance in bytes; depth 0 = once */
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
        struct {
            void *p;
            size_t bytes;
            bool auto_free; /* If it is still allocated, it is freed first. */
        } memory;
        struct {
            uint64_t handle; /* device address of the condition */
            unsigned type, body_count;
            cudaGraph_t *bodies; /* number of bodies; owned by the command */
        } conditional;
    };
};

/* Run a command, or a graph's commands, now. They return an error of CUDA. */
int wb_run_command(const struct wb_command *c);
int wb_run_node(const struct wb_command *c); /* on its own device */
/* Frees as cudaFreeAsync does. */
int wb_free(void *p);
int wb_free_ordered(void *p); /* as a command of the stream that was ordered last */
/* Returns -1 if the memory is not a graph's; otherwise marks it as freed or returns the error. */
int wb_graph_memory_free(void *p);
/* Makes the command of a three-dimensional copy. It keeps no pointer to the parameters. */
int wb_make_copy_command(const struct cudaMemcpy3DParms *p, bool async, struct wb_command *c);
/* array.c: the same for copies with an array. */
int wb_make_array_copy_command(const struct cudaMemcpy3DParms *p, bool async, struct wb_command *c);
/* Checks the stream, then runs the command or, during a capture, adds it to the graph. */
int wb_issue_command(cudaStream_t s, const struct wb_command *c);
/* peer.c: the same for a copy, whose memory may belong to several devices. */
int wb_issue_copy(cudaStream_t s, const struct wb_command *c);
/* Returns true if the copy is from one device to another. */
bool wb_is_peer_copy(const void *to, const void *from);
/* Returns an error if the current device may not access the memory. */
int wb_check_fill_device(const void *p);
/* Packs kernel parameters, given by pointers, into WB_PARAM_BYTES bytes. */
int wb_pack_params(const struct wb_function *f, void *const *args, uint8_t *out);

/* ---- graphs (graph.c) ---- */

int wb_graph_run(cudaGraph_t g);
/* Appends a copy of the command; `*node` may be NULL. */
int wb_graph_add(cudaGraph_t g, const struct wb_command *c, cudaGraphNode_t const *deps,
                 size_t ndeps, cudaGraphNode_t *node);

/* ---- streams (stream.c) ---- */

/* The capture of a stream. */
enum { WB_CAPTURE_DEPS = 32 };
struct wb_capture {
    cudaGraph_t graph;    /* NULL = not captured */
    bool is_origin;       /* true if the capture began on this stream, not through an event */
    bool into_user_graph; /* into a graph that the program made */
    bool invalidated;     /* by a call that is not permitted during capture */
    enum cudaStreamCaptureMode mode;
    pthread_t thread;                      /* the thread that began the capture */
    cudaGraphNode_t deps[WB_CAPTURE_DEPS]; /* the next node's dependencies */
    size_t ndeps;
};
/* graph.c: marks the nodes that come before the given ones, and those themselves. */
void wb_graph_mark_ancestors(cudaGraph_t g, const cudaGraphNode_t *nodes, size_t n);
bool wb_graph_is_marked(cudaGraphNode_t node);
/* NULL for the default streams, which cannot be captured. */
struct wb_capture *wb_stream_capture(cudaStream_t s);
/* Returns true if the origin waits for all that other streams added to its capture. */
bool wb_capture_is_joined(const struct wb_capture *origin);
/* Ends the capture of all streams that are captured into `g`. */
void wb_capture_end(cudaGraph_t g);
void wb_event_record_now(cudaEvent_t e);
/* Returns an error unless the event exists and was created with these flags. */
int wb_check_event_flags(cudaEvent_t e, unsigned flags);
void wb_event_wait_now(cudaEvent_t e);
/* Called for operations that a capture forbids, on the stream or on one that implies it.
 * Invalidates the capture. */
int wb_check_unsafe_call(void);
int wb_check_implicit_sync(cudaStream_t s);
enum cudaStreamCaptureMode wb_exchange_capture_mode(enum cudaStreamCaptureMode mode);

/* Returns an error if the stream does not exist. */
int wb_check_stream(cudaStream_t s);

/* ---- the order of commands (stream_order.c) ---- */

struct wb_vector_clock {
    uint32_t counts[WB_MAX_STREAMS]; /* number of commands, by stream slot */
};
/* A lane for a new stream. */
unsigned wb_order_add_stream(bool nonblocking); /* of the current device */
void wb_order_remove_stream(unsigned slot);
unsigned wb_stream_slot(cudaStream_t s); /* not of a default stream */
/* Call it before each command of a stream. */
void wb_order_command(cudaStream_t s);
/* Sets the line of the next command, if reports of races have no other for it. */
void wb_order_locate(bool is_kernel);
/* Returns the clock of the current command, itself included. */
void wb_order_get_clock(struct wb_vector_clock *out);
/* Orders the stream's next commands after all commands of the clock; the same for a graph's next
 * nodes. */
void wb_order_stream_wait(cudaStream_t s, const struct wb_vector_clock *c);
void wb_order_current_wait(const struct wb_vector_clock *c);
/* Records that the host knows these commands to be done: a clock's; all of a stream's; all of the
 * current device. */
void wb_order_host_wait(const struct wb_vector_clock *c);
void wb_order_host_wait_stream(cudaStream_t s);
void wb_order_host_wait_all(void);
/* Orders a command of the current device's legacy stream after and before all other work of two
 * devices: call both around a copy between them. */
void wb_order_peer_begin(unsigned a, unsigned b);
void wb_order_peer_end(unsigned a, unsigned b);
/* Updates clocks from the next command on, even if no stream was created; the same, and sends them
 * to the device. */
void wb_order_track(void);
void wb_order_report(void);
/* Reports the order of a graph's nodes, if wb_order_is_reported: one call before each node, with
 * the indices of its dependencies, which ran earlier; and one after it. */
struct wb_order_fork;
bool wb_order_is_reported(void);
struct wb_order_fork *wb_order_fork_begin(size_t nnodes); /* NULL: out of memory */
void wb_order_fork_node(struct wb_order_fork *f, size_t i, const size_t *deps, size_t ndeps);
void wb_order_fork_node_end(struct wb_order_fork *f, size_t i);
/* Orders the stream's next commands after all nodes of the graph. Frees `f`. */
void wb_order_fork_end(struct wb_order_fork *f, size_t nnodes);
/* Returns the current command's stream slot and its number there. False if the order is unknown
 * because several threads issue commands. */
bool wb_order_last_command(unsigned *slot, uint32_t *stream_seq);

/* ---- accesses to memory that host and device share, for which the host has not waited
 * (inflight_accesses.c) ---- */

/* Called before a command of a stream is ordered; after the command, or a graph's node, was sent.
 */
void wb_inflight_prepare(const struct wb_command *c);
void wb_inflight_track(const struct wb_command *c);
/* Called when the host knows commands to be done; when it may have waited for any. */
void wb_inflight_retire(const struct wb_vector_clock *host);
void wb_inflight_clear(void);
/* Called by the SIGSEGV handler, which then retries the instruction. Returns true if the access
 * came too early; it was reported, and the command's pages are released. */
bool wb_inflight_report(uint64_t address);
/* Returns true if a command guards the page, which is now released until the next call; if the
 * handler can't make that call behind the instruction, it ends the guard instead. */
bool wb_inflight_release(uint64_t address);
void wb_inflight_guard_again(void);
void wb_inflight_retire_page(uint64_t address);

/* Prints the output of device printf. */
void wb_flush_output(void);
/* Synchronizes; returns the sticky error if there is one. */
int wb_sync(void);
/* The same, but only if launches are in flight. */
int wb_sync_launches(void);
void wb_mark_launch_pending(void);
/* Records that a message was sent for the stream. */
void wb_stream_update_seq(cudaStream_t s);

/* ---- device (device.c, peer.c) ---- */

/* Returns an error if there is no such device. */
int wb_check_device_number(int device);
/* Returns true if the current device may access memory of that device. */
bool wb_can_access(unsigned device);
/* Forgets the current device's access to others, after its reset. */
void wb_reset_access(void);
/* The device of a stream; of a default stream, the current one. */
unsigned wb_stream_device(cudaStream_t s);

/* Returns NULL with `*error` if there is no device. */
const struct wb_rep_device_info *wb_device(int *error);

/* Prints once per call that it is not supported. */
cudaError_t wb_unsupported(const char *call);
/* Reserves the device's addresses and catches host code that touches them (shared_memory.c). */
void wb_reserve_addresses(const struct wb_session *s);
