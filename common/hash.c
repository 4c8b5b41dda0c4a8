/* hash.c — see hash.h. */
#include "common/hash.h"

#include <stdint.h>
#include <string.h>

void hash_init(struct hash *h) { SHA256Init(&h->state); }

void hash_update(struct hash *h, const void *data, size_t size) {
    uint64_t length = size;
    SHA256Update(&h->state, (const uint8_t *)&length, sizeof length);
    SHA256Update(&h->state, data ? data : "", size);
}

void hash_update_string(struct hash *h, const char *s) { hash_update(h, s, s ? strlen(s) : 0); }

void hash_final_hex(struct hash *h, char out[HASH_HEX_SIZE]) { SHA256End(&h->state, out); }

void sha256_hex(const void *data, size_t size, char out[HASH_HEX_SIZE]) {
    SHA256Data((const uint8_t *)(data ? data : ""), size, out);
}
