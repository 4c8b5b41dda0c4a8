/* hash.c — see hash.h. */
#include "common/hash.h"

#include <stdint.h>
#include <string.h>

void hash_start(struct hash *h) { SHA256Init(&h->state); }

void hash_add(struct hash *h, const void *data, size_t size) {
    uint64_t length = size;
    SHA256Update(&h->state, (const uint8_t *)&length, sizeof length);
    SHA256Update(&h->state, data ? data : "", size);
}

void hash_text(struct hash *h, const char *s) { hash_add(h, s, s ? strlen(s) : 0); }

void hash_hex(struct hash *h, char out[HASH_HEX]) { SHA256End(&h->state, out); }

void hash_plain(const void *data, size_t size, char out[HASH_HEX]) {
    SHA256Data((const uint8_t *)(data ? data : ""), size, out);
}
