// expect: RTE
// The naive version, whose loads are bulk copies of the 16 bytes around a member, and so are the stores of positions: a copy of a
// neighbour's position takes its velocity along, which that neighbour's thread writes.
struct particle {
    float x, y, vx, vy, mass;
    float charge, radius, age, heat, spin, colour[3], id, group, flags;
};

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ float *fetch(const float *p) {
    __shared__ __align__(16) float slot[256][4];
    __shared__ unsigned long long arrived[256];
    unsigned bar = shared_address(&arrived[threadIdx.x]), to = shared_address(slot[threadIdx.x]);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                 ::"r"(to), "l"((size_t)p & ~(size_t)15), "r"(bar) : "memory");
    asm volatile("{ .reg .pred done; again%=: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra again%=; }" ::"r"(bar)
                 : "memory");
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar) : "memory");
    return slot[threadIdx.x] + (((size_t)p & 15) / 4);
}
__device__ float get(const float *p) { return *(volatile float *)fetch(p); }
// nobody else reads or writes the 16 bytes of position and velocity while it does
__device__ void put(float *p, float v) {
    float *mine = fetch(p);
    *(volatile float *)mine = v;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;"
                 ::"l"((size_t)p & ~(size_t)15), "r"(shared_address(mine) & ~15u) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// As in the naive version: a step of the ladder, member by member.
__global__ void kick(particle *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = (i > 0 ? get(&p[i - 1].x) : 0.0f) - 2.0f * get(&p[i].x) + (i + 1 < n ? get(&p[i + 1].x) : 0.0f);
    float y = (i > 0 ? get(&p[i - 1].y) : 0.0f) - 2.0f * get(&p[i].y) + (i + 1 < n ? get(&p[i + 1].y) : 0.0f);
    p[i].vx = get(&p[i].vx) + dt / get(&p[i].mass) * x;
    p[i].vy = get(&p[i].vy) + dt / get(&p[i].mass) * y;
}

__global__ void drift(particle *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    put(&p[i].x, get(&p[i].x) + dt * get(&p[i].vx));
    put(&p[i].y, get(&p[i].y) + dt * get(&p[i].vy));
}

extern "C" void particles(float *state, int n, int steps, float dt) {
    if (n == 0) return;
    const int threads = 256, blocks = (n + threads - 1) / threads;
    particle *p = (particle *)state;
    for (int s = 0; s < steps; s++) {
        kick<<<blocks, threads>>>(p, n, dt);
        drift<<<blocks, threads>>>(p, n, dt);
    }
}
