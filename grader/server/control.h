/* control.h — the messages between the grader and a device process (grader/device), which holds a
 * device for one submission.
 *
 * Theory of operation. One SOCK_SEQPACKET socket. The grader sends a struct control_request; the
 * device process replies with a struct control_reply. Both have a fixed size and hold a version,
 * an operation and a serial number. Bulk data lies in a memory file that the grader makes, of a
 * size that it chooses and seals: inputs and outputs of the current case and, at its start, the
 * result area, where the device process writes a replay's statistics. A memory file is handed
 * over with the request that first needs it.
 *
 * The device process is not trusted: it executes what a submission chose. The grader believes no
 * length, index, number or text of a reply before checking it (launch_stats_unpack, and
 * grader/grade/device.c), copies the result area before reading it, waits no longer than a
 * deadline, and puts nothing into a request that the process might not know: no reference, no
 * seed, no input of another case. */
#pragma once
#include "common/hash.h"
#include "grader/server/protocol.h"
#include "grader/server/server.h"

enum {
    CONTROL_SOCKET = 3,    /* descriptors that the device process starts with */
    CONTROL_CLIENT = 4,    /* the connection to the host process; closed where there is none */
    CONTROL_WINDOW = 5,    /* the window of that connection */
    CONTROL_MAX_ARGS = 16, /* of an entry; buffers of a case */
    CONTROL_MAX_RANGES = 32,
    CONTROL_MAX_KERNELS = 1 << 16,
    CONTROL_RESULT_BYTES = 4 << 20, /* bytes at the start of a case's memory file */
    CONTROL_LOG_BYTES = 16 << 10,   /* device printf output, at the end of the result area */
};

enum control_op {
    CONTROL_OPEN,         /* with a memory file of struct control_kernel, if there are any */
    CONTROL_WAIT_READY,   /* serve the host process until it has loaded the object */
    CONTROL_BUFFERS,      /* with the case's memory file */
    CONTROL_RECORD,       /* have the host process call the entry */
    CONTROL_REPLAY,       /* run the recording on the memory file's inputs; outputs are written
                           * back there */
    CONTROL_TIMED_REPLAY, /* GPU: the same between two events; outputs stay on the device */
    CONTROL_ROOFLINE,     /* GPU: measure the ceilings */
    CONTROL_OP_COUNT
};

/* What ptxas reported for a kernel; the name's digest stands for a name of any length. */
struct control_kernel {
    char name_digest[HASH_HEX_SIZE + 7];
    uint32_t registers, spill_bytes;
};

struct control_open {
    char device[32];                                         /* of the table; "gpu" = a real one */
    uint32_t is_gpu, workers, nkernels, nimages, has_client; /* client: there is one */
    uint32_t ncode;         /* records of machine code, in the file behind the kernels */
    uint32_t ndevices, pad; /* simulated GPU; 0 = 1 */
    uint64_t pool_bytes;    /* GPU */
    char image_digest[4][HASH_HEX_SIZE + 7];
};

struct control_buffer {
    char name[64];
    uint64_t bytes, offset;          /* offset: in the memory file, of a page */
    uint32_t is_host_memory, device; /* host: in pinned memory of the host; device: its owner */
};

struct control_buffers {
    uint64_t file_bytes;
    uint32_t n, pad;
    struct control_buffer buffer[CONTROL_MAX_ARGS];
};

struct control_record {
    char entry[256];
    uint32_t nargs, pad;
    struct wb_arg args[CONTROL_MAX_ARGS];
};

struct control_range {
    uint32_t buffer, content; /* enum server_content */
    uint64_t offset, bytes;
};

struct control_replay {
    uint64_t instruction_budget, sample_warps;
    uint64_t sample_key;   /* which blocks are sampled */
    uint64_t watch_key;    /* which blocks are watched */
    uint32_t watch;        /* sim_set_watch */
    uint32_t empty_caches; /* backend_sim_set_empty_caches */
    uint32_t sanitize, timing, nranges, read_back;
    uint32_t keep_variables; /* a second call in a row: module variables are as the last replay left
                                them */
    uint32_t reverse_block_order; /* sim_set_reverse_block_order */
    struct control_range range[CONTROL_MAX_RANGES];
};

enum { CONTROL_WALL_FACTOR = 4 };

struct control_request {
    uint32_t version, op, serial, pad;
    /* Seconds that the step may take, on the device process's clock. For the simulation of a
     * replay, processor time, in at most CONTROL_WALL_FACTOR times as many seconds on the wall. */
    double time_limit_seconds;
    union {
        struct control_open open;
        struct control_buffers buffers;
        struct control_record record;
        struct control_replay replay;
    } u;
};

struct control_outcome {
    uint32_t end_reason, call_state; /* enum server_end_reason, enum wb_call_state */
    int32_t error, fault;
    char text[1024], call_name[32], reason[512], api_call[64], file[256];
    uint32_t line, pad; /* the source line of the failed call; 0 = unknown */
};

struct control_reply {
    uint32_t version, op, serial;
    uint32_t ok; /* 0: `reason` holds an error that is not the submission's fault */
    char reason[512];
    struct control_outcome outcome;     /* READY, RECORD, REPLAY */
    uint64_t address[CONTROL_MAX_ARGS]; /* BUFFERS */
    uint32_t launches,
        has_other_writes; /* RECORD: launches; other commands that write device memory */
    struct server_transfers transfers;         /* RECORD */
    double seconds;                            /* REPLAY, TIMED_REPLAY */
    double bytes_per_second, flops_per_second; /* ROOFLINE */
    char compiled_by[64];                      /* GPU: the compiler of the machine code */
    char leak_text[256];                       /* RECORD: what the entry did not free */
    uint32_t log_bytes, stats_bytes;           /* REPLAY: sizes in the result area */
};

/* Changes with the layout of any message, and with the list of counters. */
static inline uint32_t control_version(void) {
    return 6u ^ (uint32_t)sizeof(struct control_request) << 4 ^
           (uint32_t)sizeof(struct control_reply) << 9 ^
           (uint32_t)sizeof(struct sim_counters) << 18 ^ CONTROL_OP_COUNT << 28;
}
