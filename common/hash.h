/* hash.h — SHA-256 of a list of parts. Each part is hashed with its length, so that different lists
 * never give the same input. */
#pragma once
#include <stddef.h>
#include <sha2.h>

enum { HASH_HEX_SIZE = 65 }; /* bytes of a digest as text, with the zero */

struct hash {
    SHA2_CTX state;
};

void hash_init(struct hash *h);
void hash_update(struct hash *h, const void *data, size_t size);
void hash_update_string(struct hash *h, const char *s); /* NULL counts as "" */
void hash_final_hex(struct hash *h, char out[HASH_HEX_SIZE]);
/* Sets the plain SHA-256 of the bytes, as sha256sum prints it. */
void sha256_hex(const void *data, size_t size, char out[HASH_HEX_SIZE]);
