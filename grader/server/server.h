/* server.h — the device server: owns a device, speaks with one untrusted client, records what it
 * issues.
 *
 * To run a program:
 *   struct server *s = server_open(backend, &options, &err);
 *   ... start the client with server_client_socket and server_client_window, WARPBOOK_SOCKET and
 * WARPBOOK_WINDOW set to their numbers ... server_serve(s, deadline, pidfd);
 *
 * To grade an entry (the client is build/libexec/hostproc in a jail):
 *   server_wait_ready(s, deadline, pollfd, &outcome)    the object is loaded, its modules too
 *   server_buffers(s, buffers, n, &err)                 the problem's own buffers; the device
 * starts afresh server_record(s, "transpose", args, nargs, deadline, pollfd, &recording, &outcome)
 *   for each fresh input:
 *       server_restart(s, &err)                         same addresses, module variables at their
 * initial values server_write(s, address, ...)                   inputs, poison server_replay(s,
 * recording, deadline, &outcome) no code of the student's process runs server_read(s, address, ...)
 *
 * While recording, launches are checked but not executed (what they do is seen in the replays), and
 * reading device memory back is refused, so that nothing that the client does can depend on the
 * data.
 *
 * Deadlines are seconds of server_now(); 0 = none. The server never blocks beyond one, whatever the
 * client does. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "grader/server/backend.h"
#include "grader/server/protocol.h"

struct server;

/* One kernel launch, right after it ran. Pointers live until the callback returns. */
struct server_launch {
    unsigned index;     /* from 0, since hello, restart or replay */
    const char *kernel; /* mangled */
    const struct backend_launch *launch;
    const struct backend_result *result;
};

struct server_options {
    bool grading;
    bool sanitize;         /* the client looks for what its host does too early */
    uint64_t window_bytes; /* 0 = 16 MiB */
    int connection_fd; /* a connection made by a client, taken over; 0 = make one for a client to
                       inherit */
    int window_fd; /* with it: the file of the window that the client has been given, sealed; 0 =
                   make one and send it */
    uint64_t max_messages;       /* 0 = no limit; reaching one ends the connection */
    unsigned max_launches;       /* of a recording or of a program; 0 = no limit */
    uint64_t max_recorded_bytes; /* data of a recording; 0 = 256 MiB */
    double launch_seconds;       /* wall clock that one launch may take; 0 = the deadline alone */
    const char (*image_digests)[HASH_HEX_SIZE]; /* digests of the fat binaries that may be loaded;
                                                   NULL = any */
    unsigned nimages;
    void *user; /* for the callbacks, which may be NULL */
    void (*on_launch)(void *user, const struct server_launch *l);
    /* A kernel was looked up for the first time; its registers may be set now. False: nothing is
     * known of it. */
    bool (*on_kernel_found)(void *user, const char *kernel, const struct backend_kernel *k);
    /* Of a copy or a fill: values go to the host that came from reads of what nothing wrote, or it
     * races with another stream's command. */
    void (*on_report)(void *user, const struct sim_report *r);
    /* A sentence for the student on why a call failed: "kernel `k`: 2048 threads a block, at most
     * 1024". */
    void (*on_note)(void *user, const char *text);
};

/* A memory file of that size, which whoever shares it cannot resize: a look at what another has cut
 * off would be a SIGBUS. -1 with an error. */
int server_shared_memory(const char *name, uint64_t bytes, struct err *e);
enum { SERVER_WINDOW_BYTES = 16 << 20 /* bytes of the window, if the options name no other */ };
/* What the memory file of a window of so many bytes takes. */
#define SERVER_WINDOW_FILE_BYTES(bytes) ((uint64_t)(bytes) + WB_PROGRESS_BYTES)

/* Takes the backend over, and closes it in the end. */
struct server *server_open(struct backend *b, const struct server_options *o, struct err *e);
void server_close(struct server *s);
struct backend *server_backend(struct server *s);
double server_now(void);

/* The client's ends. They are close-on-exec: dup them into the child. server_close_client_end
 * closes the server's copy of the client's socket, without which a client's end would not be
 * noticed. */
int server_client_socket(const struct server *s);
int server_client_window(const struct server *s);
void server_close_client_end(struct server *s);
/* Makes the server's and the client's next step on the connection fail; from any thread. */
void server_disconnect(struct server *s);

enum server_end_reason {
    SERVER_CLOSED, /* the client hung up, or the descriptor to watch became readable */
    SERVER_DEADLINE,
    SERVER_LIMIT, /* messages, launches, recorded bytes */
    SERVER_CALL,  /* the host process waits for a call */
};

/* Answers messages until the end. `watch` is a descriptor that ends it when readable (the child's
 * pidfd), -1 = none. */
enum server_end_reason server_serve(struct server *s, double deadline, int watch);

/* Says what the client allocated and did not free; appends nothing if it freed all. */
void server_append_leaks(const struct server *s, struct buf *out);

/* ---- grading ---- */

struct server_outcome {
    enum server_end_reason end_reason;
    enum wb_call_state call_state; /* with SERVER_CALL */
    char text[1024]; /* what the host process said (loader's message, near names), printable; may be
                        empty */
    int error;       /* first cudaError_t that a call of the client returned, 0 = none */
    char call_name[32]; /* which message it answered: "launch" */
    char reason[512];   /* the note that went with it */
    int fault;          /* replay: error that poisoned the context */
    double seconds;     /* replay: device time of all launches */
    unsigned launches;
};

struct server_buffer {
    const char *name; /* copied */
    uint64_t bytes;
    int fd; /* a memory file whose pages from `offset` on are to be the buffer, where the device
               can; 0 = none */
    uint64_t offset;     /* of a page */
    bool is_host_memory; /* it lies in pinned memory of the host */
};

/* What a range of a buffer holds when a replay begins. */
enum server_content { SERVER_INITIALIZED, SERVER_UNINITIALIZED /* counts as never written */ };

struct recording;

bool server_wait_ready(struct server *s, double deadline, int watch, struct server_outcome *out);
/* Frees everything on the device, resets module variables, allocates the buffers in order. */
bool server_buffers(struct server *s, const struct server_buffer *buffers, unsigned n,
                    struct err *e);
uint64_t server_buffer_address(const struct server *s, unsigned i);
/* Has the host process call `entry`. False: it did not come back as it should, `out` says how. The
 * recording is returned (recording_free) where the entry returned, else NULL. Errors of calls are
 * in `out->error`. */
bool server_record(struct server *s, const char *entry, const struct wb_arg *args, unsigned nargs,
                   double deadline, int watch, struct recording **recording,
                   struct server_outcome *out);
bool server_restart(struct server *s, struct err *e);
/* The same for a second call in a row, which finds module variables as the first left them. */
bool server_restart_keep_variables(struct server *s, struct err *e);
/* Re-executes the recording. False with an error: our fault (addresses came out otherwise). A
 * faulting kernel is `out->fault`; a deadline passed is `out->end`. */
bool server_replay(struct server *s, const struct recording *r, double deadline,
                   struct server_outcome *out, struct err *e);
/* The buffer is pages of its file: what is there need not be copied. */
bool server_is_shared(const struct server *s, unsigned i);
bool server_mark_contents(struct server *s, uint64_t address, uint64_t bytes,
                          enum server_content content);
bool server_write(struct server *s, uint64_t to, const void *data, uint64_t bytes);
bool server_read(struct server *s, uint64_t from, void *data, uint64_t bytes);
/* Its client was built with another version of the runtime library, and is not served. */
bool server_has_version_mismatch(const struct server *s);
void server_drain_output(struct server *s, struct buf *out);

void recording_free(struct recording *r);
unsigned recording_launches(const struct recording *r);
/* True if it holds other commands that write device memory: copies, fills. */
bool recording_has_writes(const struct recording *r);
/* What its copies within device memory and its fills move, beside the kernels. Sectors are those
 * that each row touches. `copies` and `fills` are commands, copies from the host among them. */
struct server_transfers {
    uint64_t copies, fills;
    uint64_t copied_bytes, copied_sectors_read, copied_sectors_written, filled_bytes,
        filled_sectors;
    /* Over the bus, from and to the exercise's memory of the host; path: one after another, where
     * copies wait for each other or go the same way, and nothing else took any time. */
    uint64_t bus_bytes_in, bus_bytes_out, bus_critical_path_bytes;
};
struct server_transfers recording_transfers(const struct server *s, const struct recording *r);

/* Of each launch of a replay, in their order: seconds (modelled, and the interval around them), and
 * the part of the device that it takes, so that others may run beside it as long as all parts add
 * up to 1. */
enum { SERVER_TIME_MODELED, SERVER_TIME_LOW, SERVER_TIME_HIGH, SERVER_TIME_COUNT };
struct server_launch_time {
    double seconds[SERVER_TIME_COUNT], device_share;
};
/* How long all commands take together, in their streams; and how long each engine is busy: copies
 * to the device, copies to the host, kernels. False: one stream, or nothing is known of the order,
 * and no memory of the host: then times add up. */
struct server_schedule {
    double seconds[SERVER_TIME_COUNT], engine_busy[3];
};
bool recording_schedule(const struct server *s, const struct recording *r,
                        const struct server_launch_time *launches, unsigned n,
                        struct server_schedule *out);

/* The name of a cudaError_t: "cudaErrorInvalidValue"; never NULL. */
const char *server_error_name(int error);
const char *server_error_text(int error);
