/* hash.h — SHA-256 over a list of parts. Each part goes in with its length, so that no two lists
 * look alike. */
#pragma once
#include <stddef.h>
#include <sha2.h>

enum { HASH_HEX = 65 }; /* bytes of a digest as text, the zero included */

struct hash {
    SHA2_CTX state;
};

void hash_start(struct hash *h);
void hash_add(struct hash *h, const void *data, size_t size);
void hash_text(struct hash *h, const char *s); /* NULL counts as "" */
void hash_hex(struct hash *h, char out[HASH_HEX]);
/* The plain SHA-256 of bytes, as sha256sum writes it. */
void hash_plain(const void *data, size_t size, char out[HASH_HEX]);
