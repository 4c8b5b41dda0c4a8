/* async.h — what decode_async.c and exec_async.c share, and the 64-bit layout of an mbarrier.
 *
 * An mbarrier counts the arrivals and the announced bytes that the current phase still waits for.
 * When both are zero the phase completes: its bit flips and the arrival count starts again. PTX
 * leaves the layout to the implementation. */
#pragma once

enum mbarrier_verb {
    MBAR_INIT,
    MBAR_INVAL,
    MBAR_ARRIVE,
    MBAR_ARRIVE_DROP,
    MBAR_ARRIVE_EXPECT_TX,
    MBAR_ARRIVE_DROP_EXPECT_TX,
    MBAR_EXPECT_TX,
    MBAR_COMPLETE_TX,
    MBAR_WAIT,
    MBAR_WAIT_PARITY,
    MBAR_CP_ASYNC_ARRIVE, /* cp.async.mbarrier.arrive: the phase waits for the thread's copies */
    MBAR_CP_ASYNC_ARRIVE_NOINC, /* .noinc: the same; it counts as one of the expected arrivals */
};
/* target of an mbarrier op that completes what st.async or red.async writes: not counted. */
enum { MBAR_OF_STORE = 1 };
/* The statistics slots of an mbarrier: in the block's own shared memory, in another block's, and
 * waits that found the phase complete. */
enum { MBAR_STAT_LOCAL, MBAR_STAT_REMOTE, MBAR_STAT_COMPLETED_WAIT };
/* The imm of ops cp.async.group and wgmma.group. */
enum {
    GROUP_COMMIT,
    GROUP_WAIT /* op.target: how many groups may stay in flight */,
    GROUP_WAIT_ALL,
    GROUP_BULK_COMMIT,
    GROUP_BULK_WAIT,
    GROUP_WGMMA_COMMIT,
    GROUP_WGMMA_WAIT
};
/* The imm of a fence: for threads of other blocks; for the block or cluster, or between other
 * proxies; between threads and the async proxy. */
enum { FENCE_GPU_SCOPE, FENCE_CLUSTER_SCOPE, FENCE_PROXY_ASYNC };
/* The direction of a bulk copy; the prefetch is to L2. */
enum { BULK_GLOBAL_TO_SHARED, BULK_SHARED_TO_GLOBAL, BULK_SHARED_TO_SHARED, BULK_PREFETCH };
/* Its statistics slots; DSMEM: the shared memory of another block of the cluster. */
enum { BULK_STAT_GLOBAL, BULK_STAT_SHARED_STORE, BULK_STAT_SHARED_LOAD, BULK_STAT_DSMEM };

enum {
    MBAR_PENDING_BITS = 20,   /* bits 0-19: arrivals that this phase still waits for */
    MBAR_EXPECTED_SHIFT = 20, /* bits 20-39: arrivals that each phase expects */
    MBAR_TX_COUNT_SHIFT = 40, /* bits 40-61: bytes announced less bytes arrived, signed */
    MBAR_VALID_SHIFT = 62,    /* bit 62: set by init, cleared by inval */
    MBAR_PHASE_SHIFT = 63,
};
