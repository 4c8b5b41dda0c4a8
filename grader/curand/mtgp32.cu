/* mtgp32.cu — the Mersenne Twister for GPUs: each block of 256 threads draws 256 elements at a time
 * from a sequence of its own. */
#include "grader/curand/generator.cuh"
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>

enum { SEQUENCES = 192, SEQUENCES_LEGACY = 64, ROW = 256 };

static unsigned count_sequences(const curandGenerator_st *g) {
    return g->ordering == CURAND_ORDERING_PSEUDO_LEGACY ? SEQUENCES_LEGACY : SEQUENCES;
}

curandStatus_t mtgp32_seed(curandGenerator_st *g) {
    mtgp32_kernel_params_t *constants = (mtgp32_kernel_params_t *)g->constants;
    if (!constants) {
        if (cudaMalloc(&g->constants, sizeof *constants) != cudaSuccess ||
            cudaMalloc(&g->states, SEQUENCES * sizeof(curandStateMtgp32_t)) != cudaSuccess)
            return CURAND_STATUS_ALLOCATION_FAILED;
        constants = (mtgp32_kernel_params_t *)g->constants;
        curandStatus_t status = curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, constants);
        if (status != CURAND_STATUS_SUCCESS) return status;
    }
    g->position = 0;
    return curandMakeMTGP32KernelState((curandStateMtgp32_t *)g->states,
                                       mtgp32dc_params_fast_11213, constants,
                                       (int)count_sequences(g), g->seed);
}

/* Block b draws the rows that belong to sequence b; the first row, of which earlier calls have
 * taken `taken` elements, to sequence `first`. Its block steps back to draw the row once more: the state
 * holds the numbers of four rows. */
template <output_kind K>
__global__ void curand_mtgp32(curandStateMtgp32_t *states, unsigned first, unsigned taken,
                              output o) {
    typename distribution<K>::type *out = (typename distribution<K>::type *)o.p;
    curandStateMtgp32_t *state = &states[blockIdx.x];
    size_t row = (blockIdx.x + gridDim.x - first) % gridDim.x;
    if (row == 0 && taken) {
        if (threadIdx.x == 0) state->offset = (state->offset - ROW) & MTGP32_STATE_MASK;
        __syncthreads();
    }
    for (; row * ROW < o.count + taken; row += gridDim.x) {
        unsigned bits = curand(state);
        size_t i = row * ROW + threadIdx.x - taken; /* wraps before the output */
        if (i < o.count) out[i] = distribution<K>::map(bits, o);
    }
}

template <output_kind K>
static curandStatus_t launch_kind(curandGenerator_st *g, const output *o) {
    unsigned sequences = count_sequences(g), taken = (unsigned)(g->position % ROW);
    unsigned first = (unsigned)(g->position / ROW % sequences);
    g->position += o->count;
    return launch(g, sequences, ROW, curand_mtgp32<K>, (curandStateMtgp32_t *)g->states, first,
                  taken, *o);
}

curandStatus_t mtgp32_generate(curandGenerator_st *g, const output *o) {
    FOR_KIND(o->kind, launch_kind, g, o)
}
