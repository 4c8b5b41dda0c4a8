/* protocol.h — the messages between the student's process (grader/runtime) and the device server.
 *
 * Theory of operation. One SOCK_SEQPACKET socket, one frame a packet: a header, the message's
 * fixed struct from protocol.def, a tail of variable size. The client sends a request, the
 * server replies with the same `op` and `seq`; the server never sends first. (A host process
 * requests its next entry by `next_call`, and the reply comes when there is one to call.) Bulk
 * data passes through the window, a memory file that both sides map; the server fixes its size
 * and seals it, so that no client can shrink it while the server reads. The client can change
 * the window at any moment, so the server copies from it once and checks only the copy.
 *
 * A message that the client marks WB_ONE_WAY, if the table allows it, gets no reply. The server
 * executes messages in order while the client proceeds. The client sends only checked messages
 * this way; the next `sync` returns an error if one fails. The server replies to a launch after
 * checking it, before it runs. It writes its progress to a page behind the window and never
 * reads it.
 *
 * The client is untrusted: the server checks every size, handle and range, and answers an
 * invalid message with an error code. Codes are those of cudaError_t (errors.def). */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    WB_FRAME_BYTES = 48 << 10, /* bytes of the largest frame */
    WB_PARAM_BYTES = 32 << 10, /* bytes of kernel parameters, at most 32764 in CUDA */
    WB_MAX_PARAMS = 256,       /* parameters of a kernel that the server describes */
};

/* The environment of the client names its descriptors: the connection and the window (grading), or
 * the rendezvous (simgpu run), a datagram socket to which each process sends one end of a
 * connection of its own, any number of them; the window's descriptor is then the first
 * reply on it. */
#define WB_ENV_SOCKET "WARPBOOK_SOCKET"
#define WB_ENV_WINDOW "WARPBOOK_WINDOW"
/* Set by the runtime itself, for a second copy of it in the same process: "pid socket window
 * inode-of-socket". */
#define WB_ENV_CONNECTED "WARPBOOK_CONNECTED"

/* The host process prints this on standard error, and FILE:LINE, the line of its program that it
 * executes, when it crashes or a call of the entry takes long. */
#define WB_HOST_POSITION "warpbook: the host code is at "

/* Streams whose order is known; 2 * d and 2 * d + 1 are the default streams of device d. */
enum { WB_MAX_STREAMS = 64 };
enum { WB_MAX_DEVICES = 8 };

enum {
    WB_OUTPUT_PENDING = 1, /* replies: device code has written output; request it */
    WB_ONE_WAY = 2,        /* requests: no reply */
};

/* The page after the window, for any page size, so that the rest of the file can be mapped
 * separately. */
enum {
    WB_PROGRESS_BYTES = 65536,
    WB_MAX_EVENTS = 1 << 16 /* events whose times the server keeps */
};
struct wb_progress {
    _Atomic uint32_t done_seq; /* seq of the last executed message */
    _Atomic uint32_t error;    /* error that poisons the contexts of all devices */
    _Atomic uint32_t next_seq; /* the client's: all copies of the runtime in a process take their
                                * seqs here */
};

struct wb_header {
    uint32_t op;    /* enum wb_op */
    uint32_t seq;   /* chosen by the client */
    uint32_t size;  /* of the whole frame */
    int32_t status; /* replies: a cudaError_t; if not 0, the rest of the reply is zero */
    uint32_t flags;
    uint32_t device;  /* requests: the device that the message is for */
    uint64_t time_ns; /* replies: device time passed since hello, modelled or measured */
};

struct wb_param {
    uint32_t offset, bytes;
};

/* Consecutive rows of WB_ACCESS_ROW_BYTES, in each of which a command accessed the same bytes: a
 * bit for each byte. */
enum { WB_ACCESS_ROW_BYTES = 32, WB_MAX_ACCESS_RUNS = 32 };
struct wb_access_run {
    uint64_t address, rows;
    uint32_t read_mask, write_mask;
    char description[224]; /* "kernel `NAME` in FILE:LINE", of one such access */
};

/* Types of entry arguments. X(id, C type, libffi type) */
/* clang-format off */
#define WB_ARGS(X)                        \
    X(WB_I8, int8_t, ffi_type_sint8)      \
    X(WB_U8, uint8_t, ffi_type_uint8)     \
    X(WB_I16, int16_t, ffi_type_sint16)   \
    X(WB_U16, uint16_t, ffi_type_uint16)  \
    X(WB_I32, int32_t, ffi_type_sint32)   \
    X(WB_U32, uint32_t, ffi_type_uint32)  \
    X(WB_I64, int64_t, ffi_type_sint64)   \
    X(WB_U64, uint64_t, ffi_type_uint64)  \
    X(WB_F32, float, ffi_type_float)      \
    X(WB_F64, double, ffi_type_double)    \
    X(WB_PTR, uint64_t, ffi_type_pointer)
/* clang-format on */

enum wb_type {
#define X(id, ctype, ffi) id,
    WB_ARGS(X)
#undef X
        WB_TYPE_COUNT
};

enum { WB_MAX_ARGS = 64 };

struct wb_arg {
    uint32_t type, pad;
    uint64_t value;      /* the value's bytes, from the lowest address on */
    uint64_t host_bytes; /* pointers: size in bytes of the pinned host memory there, or 0 */
};

/* X(id, meaning) */
/* clang-format off */
#define WB_CALL_STATES(X)                                 \
    X(WB_READY, "the object is loaded")                   \
    X(WB_RETURNED, "the entry returned")                  \
    X(WB_NO_ENTRY, "the object exports no such function") \
    X(WB_NO_OBJECT, "the object could not be loaded")
/* clang-format on */

/* `op` of a graph's node that sends nothing to the device: a host function, an event, a child
 * graph. */
#define WB_GRAPH_NO_COMMAND UINT32_MAX

enum wb_call_state {
#define X(id, text) id,
    WB_CALL_STATES(X)
#undef X
        WB_CALL_STATE_COUNT
};

typedef char wb_name[64];

/* The blocks of a cluster in one word, each below 256; WB_CLUSTER_LARGE: more than 8 are allowed.
 */
#define WB_CLUSTER(x, y, z)  ((uint32_t)(x) | (uint32_t)(y) << 8 | (uint32_t)(z) << 16)
#define WB_CLUSTER_DIM(c, i) ((c) >> 8 * (i)&0xff)
enum { WB_CLUSTER_LARGE = 1 << 24 };

/* How devices reach each other's memory. */
enum { WB_LINK_NONE, WB_LINK_PCIE, WB_LINK_NVLINK };

enum {
    WB_TEX_TILED = 1,
    WB_TEX_LINEAR = 2,
    WB_TEX_NORMALIZED = 4,
    WB_TEX_FLOAT = 8,
    WB_TEX_SRGB = 16,
    WB_TEX_SURFACE = 32
};

#define F(type, name) type name;
#define MESSAGE(name, flags, request, reply)                                                       \
    struct wb_req_##name {                                                                         \
        request                                                                                    \
    };                                                                                             \
    struct wb_rep_##name {                                                                         \
        reply                                                                                      \
    };                                                                                             \
    _Static_assert(sizeof(struct wb_req_##name) % 8 == 0 && sizeof(struct wb_rep_##name) % 8 == 0, \
                   #name);
#include "grader/server/protocol.def"
#undef MESSAGE
#undef F

enum wb_op {
#define MESSAGE(name, flags, request, reply) WB_OP_##name,
#include "grader/server/protocol.def"
#undef MESSAGE
    WB_OP_COUNT
};

/* What `hello` begins with: a hash of the table above and of the header. If a meaning changes
 * without its name, change the initial text "5:". */
static inline uint32_t wb_version(void) {
    static const char table[] = "5:"
#define MESSAGE(name, flags, request, reply) #name "(" #request ")(" #reply ")"
#include "grader/server/protocol.def"
#undef MESSAGE
        ;
    uint32_t hash = 2166136261u ^ (uint32_t)sizeof(struct wb_header); /* FNV-1a */
    for (const char *p = table; *p; p++) hash = (hash ^ (uint8_t)*p) * 16777619u;
    return hash;
}

/* Error codes under names of our own: the runtime sees the toolkit's names as well. */
enum wb_error {
#define X(name, code, text) WB_##name = code,
#include "grader/server/errors.def"
#undef X
};
