/* state_hash.c — a hash of device memory. It runs at the speed of reading memory: the words of a
 * 64-byte piece go into eight sums, which depend on each other only at the end. */
#include "grader/sim/mem/mem.h"

#include <string.h>

enum { PIECE = SIM_HASH_WORDS * sizeof(uint64_t), ROTATION = 29 };

/* For a given word, a sum's old value determines the new one and vice versa. So two sums that
 * differ stay different while equal words are added. */
static uint64_t add_word(uint64_t sum, uint64_t word) {
    uint64_t product = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    return product << ROTATION | product >> (64 - ROTATION);
}

static void add_piece(uint64_t sums[SIM_HASH_WORDS], const unsigned char *p) {
    uint64_t words[SIM_HASH_WORDS];
    memcpy(words, p, PIECE);
    for (unsigned i = 0; i < SIM_HASH_WORDS; i++) sums[i] = add_word(sums[i], words[i]);
}

static void add_bytes(uint64_t out[SIM_HASH_WORDS], const unsigned char *p, uint64_t bytes) {
    unsigned char last[PIECE] = {0};
    uint64_t sums[SIM_HASH_WORDS]; /* which the compiler can keep in registers */
    memcpy(sums, out, PIECE);
    for (; bytes >= PIECE; p += PIECE, bytes -= PIECE) add_piece(sums, p);
    memcpy(last, p, bytes);
    if (bytes) add_piece(sums, last);
    memcpy(out, sums, PIECE);
}

/* The serials change with every allocation and free, so a kernel that does either leaves another
 * hash, though its heap may look the same afterwards. */
void memory_state_hash(const struct memory *m, uint64_t out[SIM_HASH_WORDS]) {
    memset(out, 0, PIECE);
    out[0] = m->next_serial, out[1] = m->next_free_serial;
    for (unsigned i = 0; i < m->count; i++) {
        const struct allocation *a = &m->allocations[i];
        if (a->state == ALLOCATION_FREED) continue;
        uint64_t place[] = {a->start, a->size, a->is_initialized};
        add_bytes(out, (const unsigned char *)place, sizeof place);
        add_bytes(out, m->bytes + a->start, a->size);
        if (!a->is_initialized) add_bytes(out, m->init_shadow + a->start, a->size);
    }
}
