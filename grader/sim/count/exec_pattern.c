/* exec_pattern.c — see pattern.h. Counts are exact: sectors and words are compared lane by lane.
 * Data-dependent addresses have a new pattern each time, so the usual widths compare one lane with
 * all lanes at once. */
#include "grader/sim/count/pattern.h"

#include <string.h>
#ifdef __AVX512CD__
#include <immintrin.h>
#endif

enum { SECTOR = 32, BANKS = 32 };

static u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }

/* How active lanes share values: the first lane of each value; the lanes whose value another lane
 * has, too; the largest number of lanes with one value. */
struct lane_sharing {
    u32 first_lane_mask, duplicate_mask, max_multiplicity;
};

#ifdef __AVX512CD__

/* Returns how many bits are set in each lane, by a table of the counts of four bits. */
static inline __m512i count_bits(__m512i x) {
    const __m512i four_bits = _mm512_set1_epi8(15),
                  counts = _mm512_broadcast_i32x4(
                      _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    __m512i low = _mm512_shuffle_epi8(counts, _mm512_and_si512(x, four_bits)),
            high =
                _mm512_shuffle_epi8(counts, _mm512_and_si512(_mm512_srli_epi32(x, 4), four_bits)),
            of_16_bits = _mm512_maddubs_epi16(_mm512_add_epi8(low, high), _mm512_set1_epi8(1));
    return _mm512_madd_epi16(of_16_bits, _mm512_set1_epi16(1));
}

/* Finds for each lane the earlier lanes of the same value, as bits. The conflict instruction does
 * that among 16 lanes; comparisons find the other 16. */
static struct lane_sharing compare_lanes(const s32 v[32], u32 mask) {
    __m512i low = _mm512_loadu_si512(v), high = _mm512_loadu_si512(v + 16),
            active = _mm512_set1_epi32((s32)mask), low_earlier = _mm512_conflict_epi32(low),
            high_earlier = _mm512_slli_epi32(_mm512_conflict_epi32(high), 16);
#pragma GCC unroll 16
    for (u32 l = 0; l < 16; l++)
        high_earlier = _mm512_mask_or_epi32(high_earlier,
                                            _mm512_cmpeq_epi32_mask(high, _mm512_set1_epi32(v[l])),
                                            high_earlier, _mm512_set1_epi32(1 << l));
    low_earlier = _mm512_maskz_and_epi32((__mmask16)mask, low_earlier, active);
    high_earlier = _mm512_maskz_and_epi32((__mmask16)(mask >> 16), high_earlier, active);
    u32 not_first = _mm512_test_epi32_mask(low_earlier, low_earlier) |
                    (u32)_mm512_test_epi32_mask(high_earlier, high_earlier) << 16,
        earlier = (u32)_mm512_reduce_or_epi32(_mm512_or_si512(low_earlier, high_earlier));
    __m512i max_earlier = _mm512_max_epi32(count_bits(low_earlier), count_bits(high_earlier));
    return (struct lane_sharing){mask & ~not_first, not_first | earlier,
                                 (u32)_mm512_reduce_max_epi32(max_earlier) + (mask != 0)};
}

#else

/* Vectors of the processor's own size: gcc compares the lanes of larger ones one by one. */
#ifdef __AVX2__
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { VECTORS = 32 * 4 / VECTOR_BYTES };
typedef s32 s32_vector __attribute__((vector_size(VECTOR_BYTES)));
union warp_vector {
    s32_vector part[VECTORS];
    s32 lane[32];
};

static struct lane_sharing compare_lanes(const s32 v[32], u32 mask) {
    static const union warp_vector index = {.lane = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                     22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};
    union warp_vector value, match_count = {.lane = {0}}, earlier_match = {.lane = {0}};
    s32 *multiplicity = match_count.lane, *has_earlier = earlier_match.lane;
    struct lane_sharing s = {0, 0, 0};
    memcpy(&value, v, sizeof value);
    FOR_ACTIVE_LANES(mask) for (u32 i = 0; i < VECTORS; i++) {
        s32_vector equal = value.part[i] == v[l]; /* -1 where true */
        match_count.part[i] -= equal;
        earlier_match.part[i] |= equal & (index.part[i] > (s32)l);
    }
    FOR_LANES s.first_lane_mask |= has_earlier[l] ? 0 : 1u << l;
    FOR_LANES s.duplicate_mask |= multiplicity[l] > 1 ? 1u << l : 0;
    s.first_lane_mask &= mask;
    s.duplicate_mask &= mask;
    FOR_LANES multiplicity[l] = (mask >> l & 1) ? multiplicity[l] : 0;
    FOR_LANES s.max_multiplicity =
        (u32)multiplicity[l] > s.max_multiplicity ? (u32)multiplicity[l] : s.max_multiplicity;
    return s;
}

#endif

/* Returns the number of distinct values. */
static u32 count_distinct(const u64 *v, u32 n) {
    u32 count = 0;
    for (u32 i = 0; i < n; i++) {
        u32 is_duplicate = 0;
        for (u32 j = 0; j < i; j++) is_duplicate |= v[j] == v[i];
        count += !is_duplicate;
    }
    return count;
}

/* Returns how many units of `unit` bytes the active lanes touch; an access may span several. */
static u32 count_units(const s64 *address, u32 mask, u32 span, u32 unit) {
    u64 v[32 * 2];
    u32 n = 0;
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        u64 first = (u64)address[l] / unit, last = ((u64)address[l] + span - 1) / unit;
        if (n == 0 || v[n - 1] != first) v[n++] = first;
        if (last != first) v[n++] = last;
    }
    return count_distinct(v, n);
}

enum { MAX_COUNTED_WORDS = 1 << 16 };

/* Returns true if count_words() can count the pattern: whole words of a shared memory. */
static bool has_countable_words(const struct access_pattern *m, u8 space, u32 span) {
    return space == SPACE_SHARED && span == 4 && !(m->offset_bits & 3) &&
           m->max_offset - m->min_offset < 4 * MAX_COUNTED_WORDS;
}

/* Counts how the lanes share words, and the wavefronts: the largest number of distinct words in one
 * bank. */
#ifdef __AVX512CD__
static struct lane_sharing count_words(struct access_pattern *m) {
    struct lane_sharing s = compare_lanes(m->lane_offset, m->mask);
    s32 bank[32];
    FOR_LANES bank[l] = (m->lane_offset[l] - m->min_offset) >> 2 & (BANKS - 1);
    m->wavefronts = compare_lanes(bank, s.first_lane_mask).max_multiplicity;
    m->min_wavefronts = 1;
    return s;
}
#else
/* Returns true if each active lane accesses a bank of its own, so that no two share a word. */
static bool has_own_banks(const u32 word[32], u32 mask) {
    u32 banks = 0;
    FOR_LANES banks |= (mask >> l & 1) << word[l] % BANKS;
    return __builtin_popcount(banks) == __builtin_popcount(mask);
}

/* The same by a table of all words, which is zero between calls: without an instruction that finds
 * conflicts, comparing all lanes with each takes longer. */
static struct lane_sharing count_words(struct access_pattern *m) {
    static _Thread_local u8 lanes_of_word[MAX_COUNTED_WORDS];
    u8 words_in_bank[BANKS] = {0};
    struct lane_sharing s = {0, 0, 0};
    u32 word[32], max_words = 0;
    FOR_LANES word[l] = (u32)(m->lane_offset[l] - m->min_offset) >> 2;
    m->wavefronts = m->min_wavefronts = 1;
    if (has_own_banks(word, m->mask)) return (struct lane_sharing){m->mask, 0, m->mask != 0};
    FOR_ACTIVE_LANES(m->mask) {
        u8 *bank = &words_in_bank[word[l] % BANKS];
        u32 lanes = ++lanes_of_word[word[l]], is_first = lanes == 1,
            words = *bank = (u8)(*bank + is_first);
        s.first_lane_mask |= is_first << l;
        s.max_multiplicity = lanes > s.max_multiplicity ? lanes : s.max_multiplicity;
        max_words = words > max_words ? words : max_words;
    }
    FOR_ACTIVE_LANES(m->mask) s.duplicate_mask |= (u32)(lanes_of_word[word[l]] > 1) << l;
    FOR_ACTIVE_LANES(m->mask) lanes_of_word[word[l]] = 0;
    m->wavefronts = max_words;
    return s;
}
#endif

/* Returns the wavefronts of some lanes' accesses: the largest number of distinct words in one
 * bank. */
static u32 phase_wavefronts(const s64 *address, u32 mask, u32 span) {
    s64 word[32 * 4];
    u32 n = 0, words_in_bank[BANKS] = {0}, max_words = 0;
    for (u32 l = 0; l < 32; l++)
        if (mask >> l & 1)
            for (s64 w = address[l] >> 2; w <= (address[l] + span - 1) >> 2; w++) {
                u32 is_duplicate = 0;
                for (u32 j = 0; j < n; j++) is_duplicate |= word[j] == w;
                if (is_duplicate) continue;
                word[n++] = w;
                u32 k = ++words_in_bank[w & (BANKS - 1)];
                if (k > max_words) max_words = k;
            }
    return max_words;
}

/* Returns true if every active lane reads the same address as its neighbour, lane ^ step. Then two
 * parts of a wide access share a wavefront, since the hardware packs the registers that it
 * returns. */
static bool neighbors_match(const s64 *address, u32 mask, u32 step) {
    for (u32 l = 0; l < 32; l++)
        if ((mask >> l & 1) && (mask >> (l ^ step) & 1) && address[l] != address[l ^ step])
            return false;
    return true;
}

/* Makes absolute addresses with the given offset modulo 32: positive, and otherwise a multiple of
 * all units. */
static void make_absolute(s64 *address, const s32 *rel, u32 phase) {
    for (u32 l = 0; l < 32; l++) address[l] = (s64)rel[l] + phase + (1ll << 40);
}

static void shared_wavefronts(struct access_pattern *m, u32 mask, u32 span) {
    s64 address[32];
    make_absolute(address, m->lane_offset, 0);
    u32 lanes = span <= 4 ? 32 : span <= 8 ? 16 : 8; /* lanes served together */
    if (span >= 8 && !m->is_store &&
        (neighbors_match(address, mask, 1) || neighbors_match(address, mask, 2)))
        lanes *= 2;
    for (u32 first = 0; first < 32; first += lanes) {
        u32 part = mask & (lanes == 32 ? ~0u : ((1u << lanes) - 1) << first);
        if (!part) continue;
        m->wavefronts += phase_wavefronts(address, part, span);
        m->min_wavefronts++;
    }
}

/* Returns the sectors of a local access. Local memory interleaves words by lane: a sector holds one
 * word of 8 lanes. */
static u32 local_sectors(const s64 *address, u32 mask, u32 span) {
    u64 v[32 * 4];
    u32 n = 0;
    for (u32 l = 0; l < 32; l++)
        if (mask >> l & 1)
            for (s64 w = address[l] >> 2; w <= (address[l] + span - 1) >> 2 && n < 128; w++)
                v[n++] = (u64)w * 4 + l / 8;
    return count_distinct(v, n);
}

static void classify_pattern(struct access_pattern *m, const s32 *rel, u32 span) {
    u32 not_unit_stride = 0, bits = 0;
    s32 low = 0, high = 0;
    FOR_LANES {
        not_unit_stride |= (u32)rel[l] ^ (u32)l * span;
        bits |= (u32)rel[l];
        low = rel[l] < low ? rel[l] : low;
        high = rel[l] > high ? rel[l] : high;
    }
    m->min_offset = low;
    m->max_offset = high;
    m->offset_bits = bits;
    m->shape = !bits                                ? PATTERN_UNIFORM
               : !not_unit_stride && m->mask == ~0u ? PATTERN_UNIT_STRIDE
                                                    : PATTERN_ANY;
}

void ISAFN(pattern_fill)(struct access_pattern *m, const s32 rel[32], u32 mask, u8 space,
                         u32 span) {
    memcpy(m->lane_offset, rel, sizeof m->lane_offset);
    m->mask = mask;
    m->valid_alignments = m->pattern_slot = m->nruns = m->reused_serial = 0;
    m->pattern_serial++;
    m->valid = true;
    m->lane_count = (u32)__builtin_popcount(mask);
    m->ideal_sectors = (m->lane_count * span + SECTOR - 1) / SECTOR;
    m->wavefronts = m->min_wavefronts = 0;
    classify_pattern(m, rel, span);
    u32 wavefront_bytes = m->wavefront_lane_bytes ? m->wavefront_lane_bytes : span;
    bool counts_words = has_countable_words(m, space, wavefront_bytes);
    struct lane_sharing s = counts_words ? count_words(m) : compare_lanes(rel, mask);
    m->first_lane_mask = s.first_lane_mask;
    m->duplicate_mask = s.duplicate_mask;
    m->max_multiplicity = s.max_multiplicity; /* an atomic serializes these */
    if (space == SPACE_SHARED && !counts_words) shared_wavefronts(m, mask, wavefront_bytes);
    if (space == SPACE_CONST)
        m->wavefronts = (u32)__builtin_popcount(m->first_lane_mask), m->min_wavefronts = 1;
}

/* Joins accesses of consecutive lanes that are adjacent into runs. A run may occur twice, which
 * does no harm. */
void ISAFN(pattern_runs)(struct access_pattern *m, u32 span) {
    u32 runs = 0;
    FOR_ACTIVE_LANES(m->first_lane_mask) {
        s32 at = m->lane_offset[l];
        if (runs && at == m->runs[runs - 1].offset + (s32)m->runs[runs - 1].bytes) {
            m->runs[runs - 1].bytes += span;
            continue;
        }
        m->runs[runs].offset = at;
        m->runs[runs++].bytes = span;
    }
    m->nruns = (u8)runs;
}

/* Returns the sectors of aligned accesses of up to 32 bytes, each in one sector. */
static u32 aligned_sectors(const s64 *address, u32 mask) {
    s32 sector[32];
    FOR_LANES sector[l] = (s32)(address[l] >> 5);
    return (u32)__builtin_popcount(compare_lanes(sector, mask).first_lane_mask);
}

void ISAFN(pattern_sectors)(struct access_pattern *m, u32 phase, u8 space, u32 span) {
    s64 address[32];
    m->valid_alignments |= 1u << phase;
    if (space == SPACE_SHARED) {
        m->sectors_by_alignment[phase] = 0;
        return;
    }
    make_absolute(address, m->lane_offset, phase);
    bool aligned =
        span <= SECTOR && !((phase | m->offset_bits) & (span - 1)) && !(span & (span - 1));
    u32 n = space == SPACE_LOCAL ? local_sectors(address, m->mask, span)
            : aligned            ? aligned_sectors(address, m->mask)
                                 : count_units(address, m->mask, span, SECTOR);
    m->sectors_by_alignment[phase] = (u8)n;
}

void ISAFN(pattern_count_scattered)(u64 stats[STAT_COUNT], const u64 ea[32], u32 mask, u32 span) {
    s64 address[32];
    for (u32 l = 0; l < 32; l++) address[l] = (s64)(ea[l] & ~0x8000000000000000ull);
    u32 lanes = (u32)__builtin_popcount(mask), sectors = count_units(address, mask, span, SECTOR);
    stats[STAT_REQUESTS]++;
    stats[STAT_LANES] += lanes;
    stats[STAT_OPS] += lanes;
    stats[STAT_SECTORS] += sectors;
    stats[STAT_IDEAL_SECTORS] += min_u32(sectors, (lanes * span + SECTOR - 1) / SECTOR);
}
