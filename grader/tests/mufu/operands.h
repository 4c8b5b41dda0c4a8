/* operands.h — the operands of the vectors and digests in h100.bin, for verify.cu, which makes the
 * file, and test_insn_approx.c, which reads it. C and CUDA.
 *
 * The file is, for each form: its name in 16 bytes; how many digests and how many vectors follow,
 * as u32; the digests and the vectors, u32. A digest covers the 2^23 operands of one sign and
 * exponent, all of f32 in 512 digests. Of 16-bit forms one digest covers all operands, of f64 ones
 * each covers 2^23 high words. A vector of an f64 form is the exclusive or of the result's words.
 */
#pragma once
#include <stdint.h>
#ifdef __CUDACC__
#define OPERAND __host__ __device__ static inline
#else
#define OPERAND static inline
#endif
enum { MUFU_VECTORS = 2048, MUFU_BLOCK_BITS = 23 };

OPERAND uint32_t mufu_mix(
    uint32_t x) { /* a known mixer of 32 bits: "lowbias32" of Chris Wellons's hash-prospector */
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}
/* Two of each sign and exponent: a power of two, and any fraction; 512 of any 32 bits; 512 between
 * 2^-14 and 2^8. */
OPERAND uint32_t mufu_vector(uint32_t i) {
    uint32_t r = mufu_mix(i + 0x2545f491u);
    if (i < 1024) return i >> 1 << 23 | (i & 1 ? r >> 9 : 0);
    return i < 1536 ? r : (r & 0x807fffffu) | (113 + (r >> 23) % 22) << 23;
}
/* What the second operand, or the low word of an f64, is. */
OPERAND uint32_t mufu_second_operand(uint32_t a) { return mufu_mix(a ^ 0x9e3779b9u); }
/* Summed over the operands of a block. */
OPERAND uint32_t mufu_digest(uint32_t operand, uint64_t result) {
    uint32_t high = mufu_mix((uint32_t)(result >> 32) ^ 0x632be5abu);
    return mufu_mix((uint32_t)result + high + operand * 0x9e3779b1u);
}
