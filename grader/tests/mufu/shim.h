/* shim.h — defines for verify.cu what exec_mufu.h needs of exec_values.h and exec_half.h, which
 * are C only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#ifdef __CUDACC__
#define INLINE __device__ static __forceinline__
#else
#define INLINE static inline __attribute__((always_inline))
#endif
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
INLINE f32 f32_of(u32 bits) {
    union {
        u32 bits;
        f32 value;
    } v = {bits};
    return v.value;
}
INLINE u32 bits_of(f32 value) {
    union {
        f32 value;
        u32 bits;
    } v = {value};
    return v.bits;
}
INLINE f64 f64_of(u64 bits) {
    union {
        u64 bits;
        f64 value;
    } v = {bits};
    return v.value;
}
INLINE u64 bits64_of(f64 value) {
    union {
        f64 value;
        u64 bits;
    } v = {value};
    return v.bits;
}
INLINE u32 pick(bool condition, u32 yes, u32 no) {
    u32 mask = 0 - (u32)condition;
    return (yes & mask) | (no & ~mask);
}
INLINE f32 canonical(f32 v) { return v == v ? v : f32_of(0x7fffffffu); }
INLINE f32 decode_f16(u16 h) {
    u32 m = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 scaled = bits_of(f32_of(m) * 5192296858534827628530496329220096.0f);
    return f32_of(pick(m >= 31u << 23, m | 255u << 23, scaled) | sign);
}
INLINE f32 f32_of_bf16(u16 h) { return f32_of((u32)h << 16); }
#define FMA_f64 __builtin_fma
