/* server.h — the device server: owns a device, serves one untrusted client and records the
 * commands that it issues. simgpu run and the device process (grader/device) call it.
 *
 * To run a program:
 *   struct server *s = server_open(backend, &options, &err);
 *   ... start the client with server_client_socket and server_client_window, and set
 *   WARPBOOK_SOCKET and WARPBOOK_WINDOW to their numbers ...
 *   server_serve(s, deadline, pidfd);
 *
 * To grade an entry (the client is build/libexec/hostproc in a sandbox):
 *   // waits until the object and modules are loaded
 *   server_wait_ready(s, deadline, pollfd, &outcome);
 *   // resets the device, allocates the problem's buffers
 *   server_buffers(s, buffers, n, &err);
 *   server_record(s, "transpose", args, nargs, deadline, pollfd, &recording, &outcome);
 *   for each new input:
 *       server_restart(s, &err);          // same addresses, initial module variables
 *       server_write(s, address, ...);    // inputs, poison
 *       // without the student's process
 *       server_replay(s, recording, seconds, deadline, &outcome, &err);
 *       server_read(s, address, ...);
 *
 * While recording, the server checks launches but does not execute them (the replays do), and
 * refuses to read device memory back. So nothing that the client does can depend on the data.
 *
 * Deadlines are in seconds of server_now(); 0 = none. The server never blocks beyond one, whatever
 * the client does. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "grader/server/backend.h"
#include "grader/server/protocol.h"

struct server;

/* A kernel launch that begins or has just run. Pointers are valid until the callback returns. */
struct server_launch {
    unsigned index;     /* from 0, since hello, restart or replay */
    const char *kernel; /* mangled */
    const struct backend_launch *launch;
    const struct backend_result *result; /* NULL: the launch begins */
    struct backend *backend;
    int connection_fd; /* readable during a launch if the client has sent the next message */
};

struct server_options {
    bool grading;
    bool skip_repeats;     /* Don't execute commands that would change nothing: repeats.h */
    bool sanitize;         /* The client checks for host accesses that come too early. */
    uint64_t window_bytes; /* 0 = 16 MiB */
    /* A client's connection, owned by the server from here on; 0 = create one to inherit. */
    int connection_fd;
    /* With connection_fd: the sealed memory file of the client's window; 0 = create and send it. */
    int window_fd;
    uint64_t max_messages;       /* 0 = no limit; reaching one ends the connection */
    unsigned max_launches;       /* of a recording or of a program; 0 = no limit */
    uint64_t max_recorded_bytes; /* data of a recording; 0 = 256 MiB */
    /* Digests of the fat binaries that may be loaded; NULL = any. */
    const char (*image_digests)[HASH_HEX_SIZE];
    unsigned nimages;
    void *user; /* for the callbacks, which may be NULL */
    void (*on_launch_begin)(void *user, const struct server_launch *l);
    void (*on_launch)(void *user, const struct server_launch *l);
    /* Called at a kernel's first lookup; may set its registers. Returns false if the kernel is
     * unknown. */
    bool (*on_kernel_found)(void *user, const char *kernel, const struct backend_kernel *k);
    /* A finding about a copy or a fill: it copies uninitialized values to the host, or races with
     * another stream's command. */
    void (*on_report)(void *user, const struct sim_report *r);
    /* A sentence for the student on why a call failed: "kernel `k`: 2048 threads a block, at most
     * 1024". */
    void (*on_note)(void *user, const char *text);
};

/* Returns a memory file of that size, or -1 with an error. It is sealed against resizing, because
 * another process that shrinks it could cause a SIGBUS here. */
int server_shared_memory(const char *name, uint64_t bytes, struct err *e);
enum { SERVER_WINDOW_BYTES = 16 << 20 /* bytes of the window, if the options name no other */ };
/* Size of the memory file for a window of `bytes`. */
#define SERVER_WINDOW_FILE_BYTES(bytes) ((uint64_t)(bytes) + WB_PROGRESS_BYTES)

/* Takes ownership of the backend; server_close closes it. */
struct server *server_open(struct backend *b, const struct server_options *o, struct err *e);
void server_close(struct server *s);
struct backend *server_backend(struct server *s);
double server_now(void);

/* The client's descriptors are close-on-exec: dup them into the child. Call server_close_client_end
 * in the parent then; otherwise the server would not notice when the client exits. */
int server_client_socket(const struct server *s);
int server_client_window(const struct server *s);
void server_close_client_end(struct server *s);
/* Shuts the connection down, so that the next call on either end fails. Any thread may call it. */
void server_disconnect(struct server *s);

enum server_end_reason {
    SERVER_CLOSED, /* the client hung up, or the descriptor to watch became readable */
    SERVER_DEADLINE,
    SERVER_LIMIT,       /* messages, launches, recorded bytes */
    SERVER_CALL_FAILED, /* the host process is ready for a call */
};

/* Answers messages until the connection ends, the deadline passes, or the descriptor `watch` (the
 * child's pidfd; -1 = none) becomes readable. */
enum server_end_reason server_serve(struct server *s, double deadline, int watch);

/* Appends a text on the memory that the client did not free; nothing if it freed all. */
void server_append_leaks(const struct server *s, struct buf *out);

/* ---- grading ---- */

struct server_outcome {
    enum server_end_reason end_reason;
    enum wb_call_state call_state; /* with SERVER_CALL_FAILED */
    char text[1024];    /* the host process's message (loader error, similar names), printable */
    int error;          /* first cudaError_t that a call of the client returned, 0 = none */
    char call_name[32]; /* the failed message: "launch" */
    char reason[512];   /* the note that explains the error */
    char api_call[64];  /* the call as the program wrote it, once the client has reported it */
    char file[256];     /* the source file of that call; "" = unknown */
    unsigned line;
    int fault;      /* replay: error that poisoned the context */
    double seconds; /* replay: device time of all launches */
    unsigned launches;
};

struct server_buffer {
    const char *name; /* copied */
    uint64_t bytes;
    int fd;          /* The device maps this memory file from `offset` on, if it can; 0 = none. */
    uint64_t offset; /* page-aligned */
    bool is_host_memory; /* The buffer lies in pinned host memory. */
    unsigned device;     /* the device that owns it */
};

/* The contents of a buffer's range at the start of a replay. */
enum server_content { SERVER_INITIALIZED, SERVER_UNINITIALIZED /* counts as never written */ };

struct recording;

/* `watch`: a descriptor whose end also ends the wait, such as a pidfd of the client's. */
enum { SERVER_WATCH_NOTHING = -1 };
/* Waits until the host process has loaded its object. Returns false if it ended or failed before;
 * `out` says how. */
bool server_wait_ready(struct server *s, double deadline, int watch, struct server_outcome *out);
/* Frees everything on the device, resets module variables, allocates the buffers in order. */
bool server_buffers(struct server *s, const struct server_buffer *buffers, unsigned n,
                    struct err *e);
uint64_t server_buffer_address(const struct server *s, unsigned i);
/* Makes the host process call `entry`. Returns false if the entry did not return properly; `out`
 * says how. `*recording` (free with recording_free) is NULL unless the entry returned. `out->error`
 * holds the first error of a CUDA call while recording; server_replay sets `out->fault`. */
bool server_record(struct server *s, const char *entry, const struct wb_arg *args, unsigned nargs,
                   double deadline, int watch, struct recording **recording,
                   struct server_outcome *out);
bool server_restart(struct server *s, struct err *e);
/* Like server_restart, but module variables keep the values from the previous replay. */
bool server_restart_keep_variables(struct server *s, struct err *e);
/* Re-executes the recording. Returns false with an internal error if addresses differ. A kernel's
 * fault is in `out->fault`, a passed deadline in `out->end_reason`. Simulated launches may compute
 * for `busy_seconds` altogether (sim_set_budget); 0 = no limit, for the deadline, too. */
bool server_replay(struct server *s, const struct recording *r, double busy_seconds,
                   double deadline, struct server_outcome *out, struct err *e);
/* Returns true if buffer `i` is mapped from its memory file and needs no copies. */
bool server_is_shared(const struct server *s, unsigned i);
bool server_mark_contents(struct server *s, uint64_t address, uint64_t bytes,
                          enum server_content content);
bool server_write(struct server *s, uint64_t to, const void *data, uint64_t bytes);
bool server_read(struct server *s, uint64_t from, void *data, uint64_t bytes);
/* Returns true if the client uses another version of the runtime library; it is not served. */
bool server_has_version_mismatch(const struct server *s);
void server_drain_output(struct server *s, struct buf *out);

void recording_free(struct recording *r);
/* Returns the number of kernel launches that a replay makes. */
unsigned recording_launches(const struct recording *r);
/* Returns true if the recording has other commands that write device memory: copies, fills. */
bool recording_has_writes(const struct recording *r);
/* The traffic of a recording's copies and fills. Sectors are those that each row touches. `copies`
 * and `fills` count commands, including copies from the host. */
struct server_transfers {
    uint64_t copies, fills;
    uint64_t copied_bytes, copied_sectors_read, copied_sectors_written, filled_bytes,
        filled_sectors;
    /* Copies over the bus, to and from the exercise's host memory. The critical path adds up copies
     * that depend on each other or share a direction, as if nothing else took time. */
    uint64_t bus_bytes_in, bus_bytes_out, bus_critical_path_bytes;
    /* The entry's calls that may wait for the device: allocations and frees that are not in a
     * stream's order, and waits of the host. The most bytes that the entry has allocated at once.
     */
    uint64_t synchronizing_calls, max_temporary_bytes;
    /* The commands that the entry's host code issues: launches of kernels, copies and fills; the
     * launch of a graph is one, whatever its nodes. The nodes of the graphs that it instantiates.
     */
    uint64_t host_commands, instantiated_nodes;
};
/* Returns the bytes and copies that a replay moves between host and device. */
struct server_transfers recording_transfers(const struct server *s, const struct recording *r);

/* One per launch of a replay, in order: modelled seconds with their interval, and the fraction of
 * the device that the launch occupies. Launches can overlap while their fractions sum to 1. Its
 * warp instructions, and the bytes that it moves from or to the memory of other devices. */
enum { SERVER_TIME_MODELED, SERVER_TIME_LOW, SERVER_TIME_HIGH, SERVER_TIME_COUNT };
struct server_launch_time {
    double seconds[SERVER_TIME_COUNT], device_share, instructions, peer_bytes;
};
/* Schedules a recording in its streams: total seconds, and how long each engine is busy (copies
 * to the device, copies to the host, kernels, copies to other devices). Returns false if times
 * simply add up: no host memory, and a single stream or an unknown order. */
enum { SERVER_ENGINE_COUNT = 4, SERVER_MAX_SPANS = 256 };
/* When a command of a schedule runs, in seconds from the start; its engine as in `engine_busy`. */
struct server_span {
    double begin, end;
    uint32_t engine, stream;
};
struct server_schedule {
    double seconds[SERVER_TIME_COUNT], engine_busy[SERVER_ENGINE_COUNT];
    struct server_span spans[SERVER_MAX_SPANS]; /* the first ones */
    unsigned nspans;
};
/* Schedules a replay's commands on the timeline, with these times of its launches. */
bool recording_schedule(const struct server *s, const struct recording *r,
                        const struct server_launch_time *launches, unsigned n,
                        struct server_schedule *out);

/* What a recording's commands on several devices do at the same time (peer_schedule.c). */
struct server_peer_traffic {
    double copied_bytes;        /* by copies from one device to another */
    double kernel_bytes;        /* by kernels' accesses to the memory of other devices: estimated */
    double critical_path_bytes; /* of the longest chain of copies, as if nothing else took time */
    /* For an average byte of both: the warp instructions of kernels that can run while it crosses,
     * on the source's or on the destination's device, whichever has fewer. A kernel's own accesses
     * cross while the kernel itself runs. */
    double overlap_instructions;
    /* Warp instructions of the longest chain of kernels, as if a device ran one at a time and
     * nothing else took time. */
    double kernel_critical_path;
};
struct server_peer_traffic recording_peer_traffic(const struct server *s, const struct recording *r,
                                                  const struct server_launch_time *launches,
                                                  unsigned n);

/* The name of a cudaError_t: "cudaErrorInvalidValue"; never NULL. */
const char *server_error_name(int error);
const char *server_error_text(int error);
