/* hash.h — SHA-256 over a list of parts. Each part goes in with its length, so that no two lists
 * look alike. */
#pragma once
#include <stddef.h>
#include <sha2.h>

enum { HASH_HEX_SIZE = 65 }; /* bytes of a digest as text, the zero included */

struct hash {
    SHA2_CTX state;
};

void hash_init(struct hash *h);
void hash_update(struct hash *h, const void *data, size_t size);
void hash_update_string(struct hash *h, const char *s); /* NULL counts as "" */
void hash_final_hex(struct hash *h, char out[HASH_HEX_SIZE]);
/* The plain SHA-256 of bytes, as sha256sum writes it. */
void sha256_hex(const void *data, size_t size, char out[HASH_HEX_SIZE]);
