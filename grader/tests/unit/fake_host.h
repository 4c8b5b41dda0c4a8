/* fake_host.h — a thread in the place of the host process: it calls an entry of the test, which
 * speaks the protocol by hand, while the server records. The entry's arguments are two buffers of
 * 32 bytes, `in` and `out`, and the number 32. */
#pragma once
#include "grader/tests/unit/fake_device.h"

typedef void entry_fn(const struct wb_arg *args);

struct fake_host {
    struct fixture *fixture;
    entry_fn *entry;
    struct wb_arg args[8]; /* of the call, as received */
    uint32_t nargs;
    char name[64];
    uint64_t add, fault; /* kernels */
    bool owns;           /* the buffers are in host memory */
};

/* Starts the thread and records a call. */
struct recording *fake_host_record(struct fake_host *h, entry_fn *entry,
                                   struct server_outcome *out);
/* Records another call of the running thread. */
struct recording *fake_host_record_again(struct fake_host *h, entry_fn *entry,
                                         struct server_outcome *out);
void fake_host_replay(struct fake_host *h, const struct recording *r, const char in[32],
                      char out[32]);
