/* async.h — what decode_async.c and exec_async.c agree on, and the layout of an mbarrier's 64
 * bits.
 *
 * An mbarrier counts arrivals still to come in this phase, and bytes announced but not yet there;
 * when both are zero the phase ends: its bit flips and the count starts again. PTX leaves the
 * layout to the implementation. */
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
    MBAR_CP_ASYNC_ARRIVE, /* cp.async.mbarrier.arrive: the thread's copies are part of the phase */
    MBAR_CP_ASYNC_ARRIVE_NOINC, /* the same, and one arrival that the phase counts on: .noinc */
};
/* Statistics of an mbarrier: in the block's own shared memory, in another block's; of a wait: those
 * that ended. */
enum { MBAR_STAT_LOCAL, MBAR_STAT_REMOTE, MBAR_STAT_COMPLETED_WAIT };
/* The imm of cp.async.group, and of wgmma.group. */
enum {
    GROUP_COMMIT,
    GROUP_WAIT /* op.target: groups that may be left */,
    GROUP_WAIT_ALL,
    GROUP_BULK_COMMIT,
    GROUP_BULK_WAIT,
    GROUP_WGMMA_COMMIT,
    GROUP_WGMMA_WAIT
};
/* The imm of a fence: for threads of other blocks; of the block or the cluster, or between other
 * proxies; between threads and what reads shared memory besides them. */
enum { FENCE_GPU_SCOPE, FENCE_CLUSTER_SCOPE, FENCE_PROXY_ASYNC };
enum {
    BULK_GLOBAL_TO_SHARED,
    BULK_SHARED_TO_GLOBAL,
    BULK_SHARED_TO_SHARED,
    BULK_PREFETCH
}; /* global to shared, shared to global, within shared, to L2 */
/* Its statistics: global memory, shared memory, that of another block of the cluster. */
enum { BULK_STAT_GLOBAL, BULK_STAT_SHARED_STORE, BULK_STAT_SHARED_LOAD, BULK_STAT_DSMEM };

enum {
    MBAR_PENDING_BITS = 20,   /* 0-19: arrivals to come in this phase */
    MBAR_EXPECTED_SHIFT = 20, /* 20-39: arrivals a phase expects */
    MBAR_TX_COUNT_SHIFT = 40, /* 40-61: bytes announced less bytes arrived, signed */
    MBAR_VALID_SHIFT = 62,    /* set by init, cleared by inval */
    MBAR_PHASE_SHIFT = 63,
};
