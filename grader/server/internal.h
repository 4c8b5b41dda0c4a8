/* internal.h — types and functions shared by the files of the device server. */
#pragma once
#include "grader/server/server.h"

#include <stdio.h>

enum {
    MAX_MODULES = 256,
    MAX_KERNELS = 16384,
    MAX_BUFFERS = 64,
    MAX_UPLOAD_BYTES = 256 << 20,
    MAX_OUTPUT_BYTES = 4 << 20,      /* of device printf, not requested yet */
    MAX_LOCAL_BYTES = 512 << 10,     /* of a thread, from compute capability 2.0 on */
    DEFAULT_SHARED_LIMIT = 48 << 10, /* shared memory of a block without cudaFuncSetAttribute */
};

struct server_module {
    void *handle; /* NULL = free slot */
};

struct server_kernel {
    unsigned module; /* index */
    char *name;
    struct backend_kernel backend;
    uint32_t max_dynamic_shared;
};

struct live_allocation {
    uint64_t address, bytes; /* address: 0 = free slot */
    unsigned number;         /* ordinal of its cudaMalloc */
};

/* A launch that was acknowledged but has not run yet. */
struct pending_launch {
    const struct server_kernel *kernel; /* NULL = none */
    struct wb_req_launch request;
    struct backend_launch launch;
    _Alignas(16) uint8_t params[WB_PARAM_BYTES];
};

struct problem_buffer {
    char *name;
    uint64_t bytes, address;
    bool is_shared, is_host_memory;
    unsigned device; /* its owner */
};

/* The graphs that an exercise's entry has instantiated (graph.c). */
enum { MAX_GRAPHS = 4096 };
struct server_graphs {
    struct server_graph **slots; /* by number less 1; NULL = destroyed */
    unsigned nslots, capacity;
    uint64_t bytes;       /* of all commands that they hold */
    bool is_running_node; /* the messages being handled are commands of a node */
    unsigned launch;      /* of the node that ran last: as in struct command */
    /* What that node may still copy from host memory, and where to. */
    uint64_t write_bytes, write_start, write_end;
};

struct server {
    struct backend *backend;
    struct server_options options;
    int fd, client_fd, window_fd;
    uint8_t *window;
    struct wb_progress *progress;
    uint64_t shared_bytes; /* of memory that host and device share */

    struct server_module modules[MAX_MODULES];
    unsigned nmodules;
    struct server_kernel *kernels;
    unsigned nkernels;
    struct problem_buffer problem_buffers[MAX_BUFFERS];
    unsigned nproblem_buffers;
    uint8_t *upload;
    uint64_t upload_bytes;

    struct recording *recording; /* being recorded, or NULL */
    unsigned nrecordings;        /* begun so far */
    struct server_graphs graphs;
    struct server_outcome *outcome;
    char note[512];                 /* of the message being handled */
    unsigned device;                /* that the message being handled is for */
    uint32_t peers[WB_MAX_DEVICES]; /* by device: a bit for each device that it may access */
    int sticky_error;               /* as on GPUs, an error of one device poisons all */
    double seconds;                 /* device time */
    double deadline;
    double busy_limit, busy_seconds; /* of a replay's launches: server_replay; 0 = no limit */
    uint64_t messages;
    uint32_t client_pid; /* as reported by the client */
    unsigned launches, allocations;
    struct live_allocation *live_allocations; /* of the client: open addressing, by address */
    unsigned nlive_allocations, live_slots;   /* places: a power of two */
    uint64_t graph_mailbox; /* mailbox of graphs that kernels launch; 0 = none yet */
    struct pending_launch pending;
    int deferred_error;        /* the first error of messages without a reply */
    uint64_t *event_ns;        /* WB_MAX_EVENTS of them while grading, otherwise NULL */
    struct event_clock *clock; /* otherwise event_clock.c's; NULL before the first event */
    bool limit_exceeded;
    struct buf device_stdout, device_stderr; /* output of device code (printf, failed assertions)
                                              * that was not requested yet */
    bool version_mismatch;                   /* its last message was a hello of another version */

    struct repeats *repeats;     /* repeats.h; NULL = every command is executed */
    bool has_shared_allocations; /* Host and device have shared memory since the context began. */
    bool has_stream_order; /* The order of commands is known; memory.c checks their accesses. */

    bool call_requested; /* the host process asked for a call, with: */
    uint32_t call_request_seq;
};

/* A message's tail, or a reply's tail to fill in. */
struct message_tail {
    const uint8_t *data;
    size_t size;
};

/* Handlers return a cudaError_t. The reply is zeroed beforehand. */
#define MESSAGE(name, flags, request, reply)                              \
    int server_on_##name(struct server *s, const struct wb_req_##name *q, \
                         struct message_tail tail, struct wb_rep_##name *p, struct buf *out);
#include "grader/server/protocol.def"
#undef MESSAGE

/* devices.c */
/* Selects the device of the messages that follow; returns false if there is no such device. */
bool server_select_device(struct server *s, unsigned device);
unsigned server_device_of(const struct server *s, uint64_t address);
void server_reset_device(struct server *s);
void server_clear_devices(struct server *s);
uint32_t server_link(const struct server *s); /* WB_LINK_… */

/* channel.c */
bool server_channel_open(struct server *s, struct err *e);
void server_channel_close(struct server *s);
enum server_end_reason server_channel_receive(struct server *s, void *frame, size_t *size,
                                              double deadline, int watch);
bool server_channel_send(struct server *s, const void *frame, size_t size);

/* Records why the current message fails; returns `error`, so that a handler can end with it. */
int server_refuse(struct server *s, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A name from a tail, terminated; false if it is empty, too long or holds a zero byte. */
bool server_tail_name(struct message_tail t, char *out, size_t size);
/* Copies a text; other characters than printable ASCII and newlines become question marks. */
void server_copy_printable(char *out, size_t size, struct message_tail t);
struct server_kernel *server_kernel_at(struct server *s, uint64_t id);
void server_modules_clear(struct server *s);
void server_context_clear(struct server *s, bool keep_variables);

/* ---- graphs (graph.c) ---- */

void server_graphs_clear(struct server *s);
/* Returns true if the message that is handled is part of a launch of a graph, so that it is no
 * command of the host's own. */
bool server_is_node_command(struct server *s, enum wb_op op, const void *request);
/* Ends all launches, before a recording. */
void server_graphs_end_launches(struct server *s);

/* ---- memory shared by processes (ipc.c) ---- */

/* Forgets the export of an allocation that is freed; 0 = all exports of the server. */
void server_ipc_forget(const struct server *s, uint64_t address);

/* ---- times of events (event_clock.c) ---- */

void server_clock_set_order(struct server *s, const struct wb_req_order *q,
                            struct message_tail tail);
/* Adds a launch to the timeline of events. */
void server_clock_launch(struct server *s, const struct server_launch *l);
/* A copy within the device, or a fill: its overhead in launches, and its DRAM bytes. */
void server_clock_device_op(struct server *s, double launches, double bytes);
/* A copy from one device to another. */
void server_clock_peer_copy(struct server *s, unsigned from, unsigned to, uint64_t bytes);
/* A copy from or to the host, or a piece of one; `address` is on the device. */
void server_clock_bus_copy(struct server *s, bool to_device, bool pinned, uint64_t address,
                           uint64_t bytes);
void server_clock_sync(struct server *s);
void server_clock_record_event(struct server *s, uint32_t event);
double server_clock_event_seconds(struct server *s,
                                  uint32_t event); /* since the program's first event */
void server_clock_clear(struct server *s);

/* ---- recordings (record.c, recording_schedule.c) ---- */

struct command {
    enum wb_op op;
    size_t request, tail, tail_size; /* offsets into the recording's bytes */
    uint64_t result;
    unsigned device; /* that the message is for */
    /* A copy's devices: when it is scheduled, its memory may have been freed. */
    unsigned from_device, to_device;
    bool has_waiter; /* an order: another stream or the host waits for what follows */
    unsigned
        graph_launch; /* of whose graph it is a node's: 1 for the recording's first; 0 = none */
};

struct recording {
    struct command *commands;
    size_t ncommands, capacity;
    struct buf bytes;
    unsigned launches;
    bool has_several_streams; /* otherwise its commands run in order */
    uint64_t synchronizing_calls, temporary_bytes, max_temporary_bytes; /* see server_transfers */
    uint64_t host_commands, instantiated_nodes;                         /* see server_transfers */
    unsigned graph_launches;
    /* Since the last order: a wait was counted; a copy crossed the bus, which may block the host.
     */
    bool has_waited, has_crossed_bus;
    /* The commands that the host knows to be done, by the last order; before the first, unknown. */
    bool has_host_clock;
    uint32_t host_clock[WB_MAX_STREAMS];
};

/* record.c: counts a call of the host that may wait for the device. */
void recording_count_wait(struct recording *r);
/* Counts a wait that no message reported, but that an order's clock of the host shows. */
void recording_check_host_clock(struct server *s, const struct wb_req_order *q,
                                struct message_tail tail);

/* recording_schedule.c: the bytes of the longest chain of bus copies that depend on each other or
 * share a direction. */
double recording_bus_critical_path(const struct server *s, const struct recording *r);

/* recording_schedule.c: sets the two critical paths. */
void recording_peer_critical_paths(const struct server *s, const struct recording *r,
                                   const struct server_launch_time *launches, unsigned n,
                                   struct server_peer_traffic *out);

/* peer_schedule.c: returns false if a copy isn't one between two devices. */
struct peer_copy {
    unsigned from, to; /* devices */
    double bytes;
};
bool recording_is_peer_copy(const struct server *s, const struct recording *r,
                            const struct command *c, struct peer_copy *out);

/* Over the bus, from or to the exercise's host memory; or within the device. */
enum copy_direction { COPY_DEVICE_TO_DEVICE, COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST };
enum copy_direction server_copy_direction(const struct server *s, const struct wb_req_copy *q);

/* memory.c: executes a live or replayed message. `data` is private memory. */
int server_exec_alloc(struct server *s, const struct wb_req_alloc *q, uint64_t *address);
int server_exec_free(struct server *s, const struct wb_req_free *q);
int server_exec_write(struct server *s, const struct wb_req_write *q, const uint8_t *data);
int server_exec_fill(struct server *s, const struct wb_req_fill *q);
int server_exec_copy(struct server *s, const struct wb_req_copy *q);
/* waited: as in struct sim_stream_clock. */
void server_exec_order(struct server *s, const struct wb_req_order *q, struct message_tail tail,
                       bool has_waiter);
/* recording_schedule.c: marks the orders of a recording that others wait for, and whether there are
 * several streams. */
void recording_mark_waiters(struct recording *r);
void server_clear_allocations(struct server *s);
/* Removes from the list of allocations what the device has freed by itself. */
void server_forget_freed(struct server *s);
/* launch.c. A launch that is not repeated waits in s->pending for server_run_pending. */
int server_exec_launch(struct server *s, const struct wb_req_launch *q, struct message_tail params,
                       bool is_replay);
void server_run_pending(struct server *s);

/* record.c: appends an executed message; `result` is the address that it returned. */
void recording_append(struct server *s, enum wb_op op, const void *request, size_t size,
                      struct message_tail tail, uint64_t result);
