/* hash.h — SHA-256 of a list of parts. Each part is hashed with its length, so that different lists
 * never give the same input. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* ---- between hash.c and sha256_blocks.c ---- */

/* Returns true if the processor has instructions for SHA-256. */
bool sha256_has_instructions(void);
/* Updates the state by `block_count` blocks of 64 bytes, with these instructions. */
void sha256_compress(uint32_t state[8], const uint8_t *data, size_t block_count);
