/* hash.c — see hash.h. */
#include "common/hash.h"

#include <string.h>

enum { BLOCK_BYTES = 64 };

/* Hashes whole blocks with the processor's instructions; libmd hashes what is left, and everything
 * without them. */
static void update(SHA2_CTX *c, const uint8_t *data, size_t size) {
    size_t buffered = c->bitcount[0] / 8 % BLOCK_BYTES,
           head = buffered ? BLOCK_BYTES - buffered : 0;
    if (sha256_has_instructions() && size >= head + BLOCK_BYTES) {
        size_t block_count = (size - head) / BLOCK_BYTES, bytes = block_count * BLOCK_BYTES;
        SHA256Update(c, data, head);
        sha256_compress(c->state.st32, data + head, block_count);
        c->bitcount[0] += 8 * (uint64_t)bytes;
        data += head + bytes, size -= head + bytes;
    }
    SHA256Update(c, data, size);
}

void hash_init(struct hash *h) { SHA256Init(&h->state); }

void hash_update(struct hash *h, const void *data, size_t size) {
    uint64_t length = size;
    SHA256Update(&h->state, (const uint8_t *)&length, sizeof length);
    update(&h->state, data ? data : "", size);
}

void hash_update_string(struct hash *h, const char *s) { hash_update(h, s, s ? strlen(s) : 0); }

void hash_final_hex(struct hash *h, char out[HASH_HEX_SIZE]) { SHA256End(&h->state, out); }

void sha256_hex(const void *data, size_t size, char out[HASH_HEX_SIZE]) {
    struct hash h;
    SHA256Init(&h.state);
    update(&h.state, data ? data : "", size);
    hash_final_hex(&h, out);
}
