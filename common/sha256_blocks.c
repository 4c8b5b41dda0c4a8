/* sha256_blocks.c — SHA-256's compression function by the processor's own instructions (Intel's SHA
 * extensions), five to ten times as fast as libmd's C. The names of the steps are those of FIPS
 * 180-4. The instructions hold the state as two vectors, {a, b, e, f} and {c, d, g, h}. */
#include "common/hash.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

enum { BLOCK_BYTES = 64, ROUND_GROUPS = 16 }; /* of four rounds each */

static const uint32_t round_constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool sha256_has_instructions(void) {
    unsigned a, b, c, d;
    static int known; /* 0 = not asked yet, 1 = no, 2 = yes */
    if (!known)
        known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3) &&
                        __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA)
                    ? 2
                    : 1;
    return known == 2;
}

/* Four rounds, whose words and constants are added already. */
__attribute__((target("sha,sse4.1,ssse3"))) static inline void
run_four_rounds(__m128i *abef, __m128i *cdgh, __m128i words) {
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, words);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(words, 0x0e));
}

/* Replaces the words of rounds i to i + 3 by those of rounds i + 16 to i + 19. */
__attribute__((target("sha,sse4.1,ssse3"))) static inline void extend_schedule(__m128i w[4],
                                                                               unsigned i) {
    __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
    next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
    w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void compress_block(__m128i *abef, __m128i *cdgh,
                                                                       const uint8_t *data) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203),
                  *constants = (const __m128i *)round_constants;
    __m128i first_abef = *abef, first_cdgh = *cdgh, w[4];
    for (unsigned i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), big_endian);
#pragma GCC unroll 16
    for (unsigned i = 0; i < ROUND_GROUPS; i++) {
        run_four_rounds(abef, cdgh, _mm_add_epi32(w[i & 3], constants[i]));
        if (i < ROUND_GROUPS - 4) extend_schedule(w, i);
    }
    *abef = _mm_add_epi32(*abef, first_abef), *cdgh = _mm_add_epi32(*cdgh, first_cdgh);
}

__attribute__((target("sha,sse4.1,ssse3"))) void
sha256_compress(uint32_t state[8], const uint8_t *data, size_t block_count) {
    __m128i *halves = (__m128i *)state, dcba = _mm_loadu_si128(halves),
            hgfe = _mm_loadu_si128(halves + 1), cdab = _mm_shuffle_epi32(dcba, 0xb1),
            efgh = _mm_shuffle_epi32(hgfe, 0x1b), abef = _mm_alignr_epi8(cdab, efgh, 8),
            cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (size_t i = 0; i < block_count; i++) compress_block(&abef, &cdgh, data + i * BLOCK_BYTES);
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else
bool sha256_has_instructions(void) { return false; }
void sha256_compress(uint32_t state[8], const uint8_t *data, size_t block_count) {
    for (size_t i = 0; i < block_count; i++) SHA256Transform(state, data + 64 * i);
}
#endif
