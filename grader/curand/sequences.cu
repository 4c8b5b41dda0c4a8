/* sequences.cu — XORWOW, MRG32k3a and Philox: one sequence in subsequences, one for each thread.
 *
 * Step s of a generator belongs to thread s modulo the number of threads, and is that thread's next
 * draw of one element; of two if Box and Muller's method makes pairs; of four with Philox, whose
 * counter makes four numbers at a time. A generator's position is in steps, except for Philox's,
 * which is in elements: a call may begin and end within a step. */
#include "grader/curand/generator.cuh"
#include <type_traits>
#include <vector>

enum { BLOCK = 64, THREADS_XORWOW = 4096, THREADS_MRG32K3A = 81920, THREADS_PHILOX = 65536 };
enum { SEED_STEP = 3133713 }; /* between the threads of CURAND_ORDERING_PSEUDO_SEEDED */

static unsigned count_threads(const curandGenerator_st *g) {
    bool is_legacy = g->ordering == CURAND_ORDERING_PSEUDO_LEGACY;
    if (g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return THREADS_PHILOX;
    return g->type == CURAND_RNG_PSEUDO_XORWOW || is_legacy ? THREADS_XORWOW : THREADS_MRG32K3A;
}
/* Elements of one step of plain bits. */
static unsigned count_elements(const curandGenerator_st *g) {
    return g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10 ? 4 : 1;
}

/* ---- seeds: made on the host, because each state follows from the one before ---- */

static void skip_subsequence(curandStateXORWOW_t *s) { skipahead_sequence(1, s); }
static void skip_subsequence(curandStateMRG32k3a_t *s) { skipahead_subsequence(1, s); }
static void skip_subsequence(curandStatePhilox4_32_10_t *s) { skipahead_sequence(1, s); }

/* Thread t begins at the first step at or after `step` that belongs to it. */
template <typename State>
static std::vector<State> make_states(const curandGenerator_st *g, unsigned long long step) {
    unsigned threads = count_threads(g), width = count_elements(g);
    unsigned first = (unsigned)(step % threads);
    unsigned long long row = step / threads * width;
    bool is_seeded_apart = g->ordering == CURAND_ORDERING_PSEUDO_SEEDED;
    std::vector<State> states(threads);
    State s;
    curand_init(g->seed, 0, row, &s);
    for (unsigned t = 0; t < threads; t++) {
        if (is_seeded_apart) curand_init(g->seed + (unsigned long long)t * SEED_STEP, 0, row, &s);
        states[t] = s;
        if (t < first) skipahead(width, &states[t]);
        if (!is_seeded_apart) skip_subsequence(&s);
    }
    return states;
}

template <typename State> static curandStatus_t seed_states(curandGenerator_st *g) {
    std::vector<State> states = make_states<State>(g, g->offset / count_elements(g));
    size_t bytes = states.size() * sizeof(State);
    cudaFree(g->states), g->states = nullptr;
    if (cudaMalloc(&g->states, bytes) != cudaSuccess) return CURAND_STATUS_ALLOCATION_FAILED;
    g->position = g->offset;
    return cudaMemcpy(g->states, states.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_INITIALIZATION_FAILED;
}

curandStatus_t sequences_seed(curandGenerator_st *g) {
    switch (g->type) {
    case CURAND_RNG_PSEUDO_XORWOW: return seed_states<curandStateXORWOW_t>(g);
    case CURAND_RNG_PSEUDO_MRG32K3A: return seed_states<curandStateMRG32k3a_t>(g);
    default: return seed_states<curandStatePhilox4_32_10_t>(g);
    }
}

/* ---- draws: the elements of one step ---- */

template <output_kind K, typename State> struct draw_one {
    enum { WIDTH = 1 };
    using type = typename distribution<K>::type;
    static __device__ void apply(State *s, const output &o, type *out) {
        if constexpr (K == BITS) *out = curand(s);
        else if constexpr (K == UNIFORM) *out = curand_uniform(s);
        else if constexpr (K == UNIFORM_DOUBLE) *out = curand_uniform_double(s);
        else
            *out = o.mean <= MIN_GAUSS_LAMBDA ? curand_M2_double(s, o.poisson->M2)
                                              : curand_poisson_from_normal(s, o.mean);
    }
};
template <output_kind K, typename State> struct draw_pair {
    enum { WIDTH = 2 };
    using type = typename distribution<K>::type;
    static __device__ void apply(State *s, const output &o, type *out) {
        if constexpr (sizeof(type) == sizeof(float)) {
            float2 v = curand_normal2(s);
            out[0] = distribution<K>::scale(v.x, o), out[1] = distribution<K>::scale(v.y, o);
        } else {
            double2 v = curand_normal2_double(s);
            out[0] = distribution<K>::scale(v.x, o), out[1] = distribution<K>::scale(v.y, o);
        }
    }
};
template <output_kind K> struct draw_four {
    enum { WIDTH = 4 };
    using type = typename distribution<K>::type;
    template <typename V> static __device__ void put(type *out, V v) {
        out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
    }
    static __device__ void apply(curandStatePhilox4_32_10_t *s, const output &o, type *out) {
        if constexpr (K == BITS) put(out, curand4(s));
        else if constexpr (K == UNIFORM) put(out, curand_uniform4(s));
        else if constexpr (K == UNIFORM_DOUBLE) put(out, curand_uniform4_double(s));
        else if constexpr (K == POISSON)
            put(out, o.mean <= MIN_GAUSS_LAMBDA ? curand_M2_double4(s, o.poisson->M2)
                                                : curand_poisson_from_normal4(s, o.mean));
        else {
            if constexpr (sizeof(type) == sizeof(float)) put(out, curand_normal4(s));
            else put(out, curand_normal4_double(s));
            for (int i = 0; i < WIDTH; i++) out[i] = distribution<K>::scale(out[i], o);
        }
    }
};

constexpr bool is_normal(output_kind kind) {
    return kind == NORMAL || kind == NORMAL_DOUBLE || kind == LOG_NORMAL ||
           kind == LOG_NORMAL_DOUBLE;
}
template <output_kind K, typename State>
using draw = std::conditional_t<
    std::is_same_v<State, curandStatePhilox4_32_10_t>, draw_four<K>,
    std::conditional_t<is_normal(K), draw_pair<K, State>, draw_one<K, State>>>;

/* ---- generation ---- */

/* The first step belongs to thread `first`; earlier calls have taken `taken` of its elements. A
 * step that the call doesn't use up is drawn again by the next one. */
template <output_kind K, typename State>
__global__ void curand_sequences(State *states, unsigned threads, unsigned first, unsigned taken,
                                 output o) {
    using Draw = draw<K, State>;
    typename Draw::type *out = (typename Draw::type *)o.p;
    unsigned t = blockIdx.x * BLOCK + threadIdx.x;
    size_t step = t >= first ? t - first : t + threads - first, end = o.count + taken;
    if (t >= threads || step * Draw::WIDTH >= end) return;
    State s = states[t], before = s;
    for (; step * Draw::WIDTH < end; step += threads) {
        typename Draw::type v[Draw::WIDTH];
        before = s;
        Draw::apply(&s, o, v);
        for (int i = 0; i < Draw::WIDTH; i++) {
            size_t element = step * Draw::WIDTH + i;
            if (element >= taken && element < end) out[element - taken] = v[i];
        }
    }
    bool is_used_up = (step - threads + 1) * Draw::WIDTH <= end;
    states[t] = is_used_up ? s : before;
}

template <output_kind K, typename State>
static curandStatus_t launch_sequences(curandGenerator_st *g, const output *o) {
    const unsigned width = draw<K, State>::WIDTH, threads = count_threads(g);
    unsigned per_step = count_elements(g), taken = (unsigned)(g->position % per_step);
    unsigned first = (unsigned)(g->position / per_step % threads);
    g->position += per_step > 1 ? o->count : o->count / width;
    return launch(g, (threads + BLOCK - 1) / BLOCK, BLOCK, curand_sequences<K, State>,
                  (State *)g->states, threads, first, taken, *o);
}
template <output_kind K>
static curandStatus_t launch_kind(curandGenerator_st *g, const output *o) {
    if (is_normal(K) && count_elements(g) == 1 && o->count % 2)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    switch (g->type) {
    case CURAND_RNG_PSEUDO_XORWOW: return launch_sequences<K, curandStateXORWOW_t>(g, o);
    case CURAND_RNG_PSEUDO_MRG32K3A: return launch_sequences<K, curandStateMRG32k3a_t>(g, o);
    default: return launch_sequences<K, curandStatePhilox4_32_10_t>(g, o);
    }
}

curandStatus_t sequences_generate(curandGenerator_st *g, const output *o) {
    FOR_KIND(o->kind, launch_kind, g, o)
}
