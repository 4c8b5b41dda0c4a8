// nvcc: -std=c++17 -diag-suppress 20054
// also: --schedule hostile
// Idioms of correct programs whose order is easy to overlook: nothing is reported.
#include "../programs/check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
enum { N = 2048, BLOCK = 128, BLOCKS = N / BLOCK };
constexpr unsigned ALL = ~0u;

// Lanes 0 to 11 exchange through shared memory, with a mask of their own, while the others work elsewhere.
__global__ void part_of_a_warp(int *out, const int *in) {
    __shared__ int room[32];
    int lane = threadIdx.x;
    if (lane < 12) {
        room[lane] = in[lane];
        __syncwarp(0xfff);
        out[lane] = room[11 - lane];
        __syncwarp(0xfff);
        room[lane] = out[lane] + 1;
        __syncwarp(0xfff);
        out[lane] += room[(lane + 1) % 12];
    } else out[lane] = in[lane] * 2;
}

// The second warp of 48 threads has 16 lanes; a full mask names lanes that the block doesn't have.
__global__ void partial_warp(int *out, const int *in) {
    int sum = __reduce_add_sync(ALL, in[threadIdx.x]);
    out[threadIdx.x] = __shfl_sync(ALL, sum, 3) + __popc(__ballot_sync(ALL, 1));
}

// The counter wraps by itself, so that the next launch finds it at 0. One warp of the last block adds up.
__global__ void last_block(int *out, int *parts, unsigned *counter, const int *in) {
    __shared__ bool is_last;
    int sum = __syncthreads_count(in[blockIdx.x * BLOCK + threadIdx.x] % 3 == 0);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x >= 32) return;
    __threadfence();
    int all = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += 32) all += __ldcg(&parts[b]);
    all = __reduce_add_sync(ALL, all);
    if (threadIdx.x == 0) *out = all;
}

// A chain of blocks in the order of their tickets: volatile words and fences.
__global__ void chain(int *out, volatile int *flag, volatile int *sum, int *ticket) {
    __shared__ int b;
    if (threadIdx.x == 0) {
        b = atomicAdd(ticket, 1);
        int before = 0;
        if (b) {
            while (!flag[b - 1]) {}
            __threadfence();
            before = sum[b - 1];
        }
        sum[b] = before + b;
        __threadfence();
        flag[b] = 1;
        out[b] = before;
    }
}

// The same with a release and an acquire.
__global__ void chain_atomic_ref(int *out, int *word, int *ticket) {
    if (threadIdx.x) return;
    int b = atomicAdd(ticket, 1), before = 0;
    if (b) {
        cuda::atomic_ref<int, cuda::thread_scope_device> last(word[2 * b - 2]);
        while (!last.load(cuda::memory_order_acquire)) {}
        before = word[2 * b - 1];
    }
    word[2 * b + 1] = before + b;
    cuda::atomic_ref<int, cuda::thread_scope_device>(word[2 * b]).store(1, cuda::memory_order_release);
    out[b] = before;
}

// Whole blocks leave before the barriers, by a condition that is the same for all of their threads.
__global__ void blocks_leave(int *out, const int *in, int blocks) {
    __shared__ int room[BLOCK];
    if (blockIdx.x >= blocks) return;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    room[threadIdx.x] = in[i];
    __syncthreads();
    if (blockIdx.x % 2) {
        room[threadIdx.x ^ 64] += 5; // one owner for each element
        __syncthreads();
    }
    out[i] = room[BLOCK - 1 - threadIdx.x];
}

// Two tiles in turn, filled by asynchronous copies; one barrier for a tile.
__global__ void two_tiles(int *out, const int *in, int tiles) {
    __shared__ __align__(16) int tile[2][BLOCK];
    int t = threadIdx.x, sum = 0;
    auto fetch = [&](int k) {
        if (k < tiles) __pipeline_memcpy_async(&tile[k % 2][t], &in[k * BLOCK + t], 4);
        __pipeline_commit();
    };
    fetch(0);
    for (int k = 0; k < tiles; k++) {
        __pipeline_wait_prior(0);
        __syncthreads();
        fetch(k + 1);
        sum += tile[k % 2][BLOCK - 1 - t];
    }
    out[t] = sum;
}

// The same by a pipeline of the block.
__global__ void block_pipeline(int *out, const int *in, int tiles) {
    __shared__ __align__(16) int tile[2][BLOCK];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int next = 0, k = 0; k < tiles; k++) {
        for (; next < tiles && next < k + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[next % 2], in + next * BLOCK, sizeof tile[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[k % 2][(threadIdx.x + 1) % BLOCK];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// Two barriers between the warps that fill and those that use.
__global__ void roles(int *out, const int *in, int tiles) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ int tile[2][64];
    __shared__ alignas(8) unsigned char memory[4][sizeof(barrier)];
    auto b = reinterpret_cast<barrier *>(memory); // full[2], empty[2]
    if (threadIdx.x < 4) init(&b[threadIdx.x], 128);
    __syncthreads();
    int t = threadIdx.x % 64, sum = 0;
    if (threadIdx.x < 64) {
        for (int k = 0; k < tiles; k++) {
            b[2 + k % 2].arrive_and_wait();
            tile[k % 2][t] = in[k * 64 + t];
            (void)b[k % 2].arrive();
        }
    } else {
        (void)b[2].arrive(), (void)b[3].arrive();
        for (int k = 0; k < tiles; k++) {
            b[k % 2].arrive_and_wait();
            sum += tile[k % 2][63 - t];
            if (k + 2 < tiles) (void)b[2 + k % 2].arrive();
        }
        out[t] = sum;
    }
}

// Named barriers: one side arrives, the other waits.
__global__ void named(int *out, const int *in, int tiles) {
    __shared__ int tile[32];
    int lane = threadIdx.x % 32, sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (threadIdx.x < 32) {
            if (k) asm volatile("bar.sync 2, 64;" ::: "memory");
            tile[lane] = in[32 * k + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += tile[31 - lane];
            if (k + 1 < tiles) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    if (threadIdx.x >= 32) out[lane] = sum;
}

// Lanes with equal keys elect one for their atomic, in divergent code, with the mask of those that came.
__global__ void by_key(int *count, const int *in) {
    int key = in[blockIdx.x * BLOCK + threadIdx.x] % 7;
    unsigned here = __ballot_sync(ALL, key != 3);
    if (key != 3) {
        unsigned peers = __match_any_sync(here, key);
        if (threadIdx.x % 32 == __ffs(peers) - 1) atomicAdd(&count[key], __popc(peers));
    }
}

__global__ void coalesced(int *count, const int *in) {
    if (in[blockIdx.x * BLOCK + threadIdx.x] % 5) return;
    auto group = cg::coalesced_threads();
    int before = 0;
    if (group.thread_rank() == 0) before = atomicAdd(count, group.size());
    before = group.shfl(before, 0) + group.thread_rank();
    if (before < 0) *count = 0;
}

__global__ void tiles_of_eight(int *out, const int *in) {
    __shared__ int room[BLOCK];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * BLOCK + threadIdx.x, base = threadIdx.x / 8 * 8;
    room[threadIdx.x] = in[i];
    tile.sync();
    int other = room[base + 7 - tile.thread_rank()];
    tile.sync();
    room[threadIdx.x] = other;
    tile.sync();
    out[i] = cg::reduce(tile, room[base + tile.thread_rank()], cg::plus<int>());
}

// One lane's word for all, twice.
__global__ void announced(int *out, const int *in) {
    __shared__ int word[BLOCK / 32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    for (int k = 0; k < 3; k++) {
        if (lane == k) word[warp] = in[warp * 32 + k];
        __syncwarp();
        sum += word[warp];
        __syncwarp();
    }
    out[threadIdx.x] = sum;
}

// Rounds between two arrays, one grid barrier for each.
__global__ void rounds(int *a, int *b, int n) {
    auto grid = cg::this_grid();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int k = 0; k < n; k++) {
        b[i] = a[i] + a[(i + 1) % N];
        grid.sync();
        int *swap = a;
        a = b, b = swap;
    }
}

// A loop whose end the block decides together.
__global__ void until_all(int *out, const int *in) {
    __shared__ int sum;
    int left = in[threadIdx.x] % 5;
    if (threadIdx.x == 0) sum = 0;
    while (__syncthreads_or(left > 0))
        if (left > 0) atomicAdd(&sum, left--);
    if (threadIdx.x == 0) *out = sum;
}

// A lock of the block, taken by one thread of each warp.
__global__ void locked(int *out) {
    __shared__ int lock, value;
    if (threadIdx.x == 0) lock = value = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1)) {}
        __threadfence_block();
        value = value + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = value;
}

// A plain look before the atomic, by a volatile read.
__global__ void least(int *out, const int *in) {
    int v = -in[blockIdx.x * BLOCK + threadIdx.x];
    if (v < *(volatile int *)out) atomicMin(out, v);
}

// Bins of each warp, added up behind a barrier; the memory then serves a second purpose.
__global__ void bins_of_warps(int *out, const int *in) {
    __shared__ int memory[4 * 32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    memory[threadIdx.x] = 0;
    __syncwarp();
    atomicAdd(&memory[warp * 32 + in[blockIdx.x * BLOCK + threadIdx.x] % 32], 1);
    __syncthreads();
    int sum = 0;
    if (warp == 0)
        for (int w = 0; w < 4; w++) sum += memory[w * 32 + lane];
    __syncthreads();
    memory[threadIdx.x] = sum;
    __syncthreads();
    if (warp == 1) atomicAdd(&out[lane], memory[lane]);
}

// A scan between two rows: one barrier for a round is enough.
__global__ void two_rows(int *out, const int *in) {
    __shared__ int row[2][BLOCK];
    int t = threadIdx.x, from = 0;
    row[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2, from ^= 1) {
        row[!from][t] = row[from][t] + (t >= d ? row[from][t - d] : 0);
        __syncthreads();
    }
    out[t] = row[from][t];
}

// A queue of the block: places by an atomic, entries used behind a barrier.
__global__ void queue(int *out, const int *in) {
    __shared__ int entry[BLOCK], size;
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    if (in[threadIdx.x] % 2) entry[atomicAdd(&size, 1)] = in[threadIdx.x];
    __syncthreads();
    int n = size, sum = 0;
    for (int i = threadIdx.x; i < n; i += BLOCK) sum += entry[i];
    atomicAdd(out, sum);
}

// Blocks of a cluster give each other a sum.
__global__ void __cluster_dims__(4) in_cluster(int *out, const int *in) {
    __shared__ int given[4];
    auto cluster = cg::this_cluster();
    int sum = __syncthreads_count(in[blockIdx.x * BLOCK + threadIdx.x] % 2);
    cluster.sync();
    if (threadIdx.x < 4) *cluster.map_shared_rank(&given[cluster.block_rank()], threadIdx.x) = sum;
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = given[0] + given[1] + given[2] + given[3];
}

// Counters of system scope, and a maximum kept by a compare-and-swap.
__global__ void system_scope(int *count, unsigned long long *most, const int *in) {
    int v = in[blockIdx.x * BLOCK + threadIdx.x];
    atomicAdd_system(count, 1);
    unsigned long long seen = *(volatile unsigned long long *)most, mine = v;
    while (seen < mine) {
        unsigned long long old = atomicCAS(most, seen, mine);
        if (old == seen) break;
        seen = old;
    }
}

__global__ void add(int *p, int by) { p[blockIdx.x * BLOCK + threadIdx.x] += by; }

static int *in, *out, *more, *word;

static void say(const char *what, const int *from = out) {
    static int host[N];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int i = 0; i < N; i++) sum = 31 * sum + host[i];
    printf("%s %u\n", what, sum);
    CHECK(cudaMemset(out, 0, N * 4));
    CHECK(cudaMemset(word, 0, N * 4));
    CHECK(cudaDeviceSynchronize());
}

static void on_the_device() {
    part_of_a_warp<<<1, 32>>>(out, in), say("part of a warp");
    partial_warp<<<1, 48>>>(out, in), say("partial warp");
    for (int i = 0; i < 2; i++) last_block<<<BLOCKS, BLOCK>>>(out + i, more, (unsigned *)word, in);
    say("last block");
    chain<<<BLOCKS, 32>>>(out, word, word + N / 4, word + N / 2), say("chain");
    chain_atomic_ref<<<BLOCKS, 32>>>(out, word, word + N / 2), say("chain by atomic_ref");
    blocks_leave<<<BLOCKS, BLOCK>>>(out, in, BLOCKS - 3), say("blocks leave");
    two_tiles<<<1, BLOCK>>>(out, in, 6), say("two tiles");
    block_pipeline<<<1, BLOCK>>>(out, in, 6), say("pipeline");
    roles<<<1, 128>>>(out, in, 7), say("roles");
    named<<<1, 64>>>(out, in, 5), say("named barriers");
    by_key<<<BLOCKS, BLOCK>>>(out, in), say("by key");
    coalesced<<<BLOCKS, BLOCK>>>(out, in), say("coalesced group");
    tiles_of_eight<<<BLOCKS, BLOCK>>>(out, in), say("tiles of eight");
    announced<<<1, BLOCK>>>(out, in), say("announced");
    int turns = 5;
    CHECK(cudaMemcpy(more, in, N * 4, cudaMemcpyDeviceToDevice));
    void *arguments[] = {&more, &out, &turns};
    CHECK(cudaLaunchCooperativeKernel((void *)rounds, BLOCKS, BLOCK, arguments, 0, 0));
    say("rounds");
    until_all<<<1, BLOCK>>>(out, in), say("until all");
    locked<<<1, BLOCK>>>(out), say("locked");
    least<<<BLOCKS, BLOCK>>>(out, in), say("least");
    bins_of_warps<<<BLOCKS, BLOCK>>>(out, in), say("bins of warps");
    two_rows<<<1, BLOCK>>>(out, in), say("two rows");
    queue<<<1, BLOCK>>>(out, in), say("queue");
    in_cluster<<<BLOCKS, BLOCK>>>(out, in), say("cluster");
    system_scope<<<BLOCKS, BLOCK>>>(out, (unsigned long long *)(out + 2), in), say("system scope");
}

static cudaStream_t s, t;
static cudaEvent_t made, used;

static void ordered_by_events() {
    for (int k = 0; k < 3; k++) {
        CHECK(cudaStreamWaitEvent(s, used, 0)); // never recorded yet: no wait
        add<<<BLOCKS, BLOCK, 0, s>>>(out, k);
        CHECK(cudaEventRecord(made, s));
        CHECK(cudaStreamWaitEvent(t, made, 0));
        CHECK(cudaMemcpyAsync(more, out, N * 4, cudaMemcpyDeviceToDevice, t));
        add<<<BLOCKS, BLOCK, 0, t>>>(out, 1);
        CHECK(cudaEventRecord(used, t));
    }
    say("events");
}

// Memory of a pool that one stream frees and takes again, and that another one uses in between.
static void pool_in_order() {
    for (int k = 0; k < 3; k++) {
        int *p;
        CHECK(cudaMallocAsync((void **)&p, N * 4, s));
        CHECK(cudaMemsetAsync(p, k, N * 4, s));
        CHECK(cudaEventRecord(made, s));
        CHECK(cudaStreamWaitEvent(t, made, 0));
        add<<<BLOCKS, BLOCK, 0, t>>>(p, 1);
        CHECK(cudaEventRecord(used, t));
        CHECK(cudaStreamWaitEvent(s, used, 0));
        CHECK(cudaMemcpyAsync(out, p, N * 4, cudaMemcpyDeviceToDevice, s));
        CHECK(cudaFreeAsync(p, s));
    }
    say("pool");
}

static void captured_fork() {
    cudaGraph_t g;
    cudaGraphExec_t x;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(out, 0, N * 4, s));
    CHECK(cudaEventRecord(made, s));
    CHECK(cudaStreamWaitEvent(t, made, 0));
    add<<<BLOCKS / 2, BLOCK, 0, s>>>(out, 2);
    add<<<BLOCKS / 2, BLOCK, 0, t>>>(out + N / 2, 3);
    CHECK(cudaEventRecord(used, t));
    CHECK(cudaStreamWaitEvent(s, used, 0));
    add<<<BLOCKS, BLOCK, 0, s>>>(out, 4);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    for (int k = 0; k < 2; k++) CHECK(cudaGraphLaunch(x, s));
    say("graph");
}

// Blocking streams and the default stream wait for each other.
static void default_between() {
    cudaStream_t blocking;
    CHECK(cudaStreamCreate(&blocking));
    add<<<BLOCKS, BLOCK, 0, blocking>>>(out, 5);
    add<<<BLOCKS, BLOCK>>>(out, 6);
    add<<<BLOCKS, BLOCK, 0, blocking>>>(out, 7);
    say("default stream");
}

int main() {
    static int host[N];
    for (int i = 0; i < N; i++) host[i] = (i * 7919 + 13) % 1009;
    for (int **p : {&in, &out, &more, &word}) CHECK(cudaMalloc(p, N * 4));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(more, 0, N * 4));
    say("start", in);
    on_the_device();
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
    ordered_by_events();
    pool_in_order();
    captured_fork();
    default_between();
    return 0;
}
