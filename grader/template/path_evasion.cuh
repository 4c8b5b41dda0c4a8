// Prefix that `grader verify` puts before a baseline (grader/cli/path_evasion.c), in which it has
// replaced pointers by path_evasion::pointer, or shared variables by path_evasion::cell. The work
// is the same, but each access takes another path than its load or store did. A limit on the effect
// still fails; a limit on one path's counter would pass.
#include <stddef.h>
#pragma nv_diag_suppress 177, 550

namespace path_evasion {

enum { MAX_THREADS = 1024, TABLE_BYTES = 60 << 10 };
static bool is_enabled; // only in the technique case, whose buffers are multiples of 16 bytes
struct span {
    const char *from;
    size_t bytes, table_offset;
};
struct table_range { // offsets in the table; base < 0: not in the table
    long base, end;
};
static span spans[16]; // the ranges that were copied into the table
static int nspans;
static size_t filled;

static const void *excluded[16]; // small buffers that are no multiple of 16 bytes: plain loads
static int nexcluded;
static void exclude(const void *p) { excluded[nexcluded++] = p; }
static bool is_excluded(const void *p) {
    for (int i = 0; i < nexcluded; i++)
        if (excluded[i] == p) return true;
    return false;
}

#if PATH_EVASION_CONSTANT
__constant__ __align__(16) unsigned char table[TABLE_BYTES];
static void copy_to_table(const void *from, size_t bytes) {
    size_t remaining = TABLE_BYTES - filled, n = bytes < remaining ? bytes : remaining;
    if (!n) return;
    cudaMemcpyToSymbolAsync(table, from, n, filled, cudaMemcpyDeviceToDevice);
    spans[nspans++] = span{(const char *)from, n, filled};
    filled += (n + 15) / 16 * 16;
}
#else
static void copy_to_table(const void *, size_t) {}
#endif

static table_range table_range_of(const void *p) {
    for (int i = 0; i < nspans; i++)
        if ((const char *)p >= spans[i].from && (const char *)p < spans[i].from + spans[i].bytes)
            return table_range{(long)(spans[i].table_offset + ((const char *)p - spans[i].from)), (long)(spans[i].table_offset + spans[i].bytes)};
    return table_range{-1, 0};
}

static __device__ unsigned thread() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
static __device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

template <class T> struct plain {
    typedef T type;
};
template <class T> struct plain<const T> {
    typedef T type;
};

#if PATH_EVASION_BULK // all types share a slot: two slots would exceed a block's shared memory
static __device__ unsigned char *bulk_slot() {
    __shared__ __align__(16) unsigned char slot[MAX_THREADS][16];
    return slot[thread()];
}
static __device__ unsigned bulk_arrived() {
    __shared__ unsigned long long arrived[MAX_THREADS];
    return shared_address(&arrived[thread()]);
}
#endif

#define WORDS(T) (sizeof(T) < 4 ? 1 : sizeof(T) / 4)
template <class T> static __device__ T read(const T *p, long at) {
#if PATH_EVASION_ATOMIC
    union {
        unsigned word[WORDS(T)];
        unsigned char byte[4 * WORDS(T)];
    } u;
    const unsigned *from = (const unsigned *)((size_t)p & ~(size_t)3); // a small element: its word
    for (unsigned i = 0; i < WORDS(T); i++) u.word[i] = atomicOr((unsigned *)from + i, 0u);
    return *(const T *)(u.byte + ((size_t)p & 3));
#elif PATH_EVASION_ASYNC
    __shared__ __align__(16) unsigned char slot[MAX_THREADS][4 * WORDS(T)];
    unsigned char *slot_of_thread = slot[thread()];
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n\tcp.async.wait_all;"
                 ::"r"(shared_address(slot_of_thread)), "l"((size_t)p & ~(size_t)3), "n"(4 * WORDS(T)) : "memory");
    return *(const T *)(slot_of_thread + ((size_t)p & 3));
#elif PATH_EVASION_BULK
    unsigned char *slot_of_thread = bulk_slot();
    unsigned arrived = bulk_arrived();
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(arrived) : "memory");
    asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 16;}" ::"r"(
                     arrived)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                 ::"r"(shared_address(slot_of_thread)), "l"((size_t)p & ~(size_t)15), "r"(arrived)
                 : "memory");
    for (unsigned done = 0; !done;)
        asm volatile("{.reg .pred d; mbarrier.try_wait.parity.shared.b64 d, [%1], 0; selp.u32 %0, 1, 0, d;}"
                     : "=r"(done) : "r"(arrived) : "memory");
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(arrived) : "memory");
    return *(const T *)(slot_of_thread + ((size_t)p & 15));
#elif PATH_EVASION_CONSTANT
    if (at >= 0) return *(const T *)(table + at);
#endif
    return *p;
}

template <class T> static __device__ void write(T *p, T v) {
#if PATH_EVASION_ATOMIC
    if (sizeof(T) % 4 == 0) {
        union {
            T value;
            unsigned word[sizeof(T) < 4 ? 1 : sizeof(T) / 4];
        } u;
        u.value = v;
        for (unsigned i = 0; i < sizeof(T) / 4; i++) atomicExch((unsigned *)p + i, u.word[i]);
        return;
    }
#endif
    *p = v;
}

// An element of a buffer: a conversion reads it, an assignment writes it.
template <class T> struct element {
    T *p;
    long at;
    bool evades;
    __device__ operator T() const { return evades ? read(p, at) : *p; }
    __device__ T operator=(T v) const {
        if (evades) write(p, v);
        else *p = v;
        return v;
    }
    __device__ T operator=(const element &e) const { return *this = (T)e; }
    __device__ T operator+=(T v) const { return *this = (T)*this + v; }
    __device__ T operator-=(T v) const { return *this = (T)*this - v; }
    __device__ T operator*=(T v) const { return *this = (T)*this * v; }
    __device__ T operator/=(T v) const { return *this = (T)*this / v; }
    __device__ T *operator&() const { return p; }
};

template <class T> struct access { // to a writable buffer
    typedef element<T> result;
    static __device__ result at(T *p, long where, bool evades) { return result{p, evades ? -1 : where, evades}; }
};
template <class T> struct access<const T> {
    typedef T result;
    static __device__ T at(const T *p, long where, bool evades) { return evades ? read(p, where) : *p; }
};

template <class T> struct pointer {
    T *p;
    table_range in; // the place of p in the table
    bool evades;
    pointer() = default;
    __host__ __device__ pointer(T *p, table_range in, bool evades) : p(p), in(in), evades(evades) {}
#ifdef __CUDA_ARCH__
    __device__ pointer(T *p) : p(p), in(table_range{-1, 0}), evades(false) {} // to shared memory, or to a variable
#else
    __host__ __device__ pointer(T *p) : p(p), in(table_range_of(p)), evades(is_enabled && !is_excluded(p)) {}
#endif
    template <class U> __host__ __device__ pointer(const pointer<U> &o) : p((T *)o.p), in(o.in), evades(o.evades) {}
    __host__ __device__ operator T *() const { return p; }
    template <class I> __device__ typename access<T>::result operator[](I i) const {
        // The table may have only the beginning of a large buffer; the rest is in global memory.
        long at = in.base + (long)i * (long)sizeof(T);
        return access<T>::at(p + i, in.base >= 0 && at + (long)sizeof(T) <= in.end ? at : -1, evades);
    }
    __device__ typename access<T>::result operator*() const { return (*this)[0]; }
    template <class I> __host__ __device__ pointer operator+(I i) const {
        return pointer(p + i, in.base < 0 ? in : table_range{in.base + (long)i * (long)sizeof(T), in.end}, evades);
    }
    template <class I> __host__ __device__ pointer operator+=(I i) { return *this = *this + i; }
};

// Replaces reinterpret_cast between pointers, also from plain ones to shared memory or a variable.
template <class P> struct cast {
    template <class U> static __host__ __device__ P of(const U &u) { return P(u); }
};
template <class T> struct cast<pointer<T>> {
    template <class U> static __host__ __device__ pointer<T> of(const pointer<U> &u) { return pointer<T>(u); }
    template <class U> static __host__ __device__ pointer<T> of(U *u) { return pointer<T>((T *)u); }
};
template <class P, class U> static __host__ __device__ P as(const U &u) { return cast<P>::of(u); }

// A variable of at most one word in shared memory. A smaller one clears its part of the word, then
// sets it.
template <class T> struct cell {
    T raw;
    __device__ unsigned *word() const { return (unsigned *)((size_t)&raw & ~(size_t)3); }
    __device__ unsigned bits() const { return ((size_t)&raw & 3) * 8; }
    __device__ operator T() const {
        unsigned part = atomicOr(word(), 0u) >> bits();
        return *(T *)&part;
    }
    __device__ T operator=(T v) {
        if (sizeof(T) == 4) {
            atomicExch((unsigned *)&raw, *(unsigned *)&v);
            return v;
        }
        unsigned part = 0;
        *(T *)&part = v;
        atomicAnd(word(), ~(((1u << (8 * sizeof(T) & 31)) - 1) << bits()));
        atomicOr(word(), part << bits());
        return v;
    }
    __device__ T operator=(const cell &c) { return *this = (T)c; }
    __device__ T operator+=(T v) { return *this = (T)*this + v; }
    __device__ T *operator&() { return &raw; } // for an atomic, which already takes this path
};

} // namespace path_evasion

template <class T> static cudaError_t cudaMalloc(path_evasion::pointer<T> *p, size_t bytes) {
    void *raw = nullptr;
    cudaError_t e = cudaMalloc(&raw, bytes);
    *p = path_evasion::pointer<T>((T *)raw);
    return e;
}
template <class T> static cudaError_t cudaMallocAsync(path_evasion::pointer<T> *p, size_t bytes, cudaStream_t s) {
    void *raw = nullptr;
    cudaError_t e = cudaMallocAsync(&raw, bytes, s);
    *p = path_evasion::pointer<T>((T *)raw);
    return e;
}
#if !PATH_EVASION_SHARED
#define __restrict__
#define reinterpret_cast path_evasion::as
#endif
