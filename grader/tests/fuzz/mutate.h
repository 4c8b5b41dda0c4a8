/* mutate.h — mutations that keep most of a file's structure. They replace libFuzzer's own three
 * times out of four, because randomly changed bytes hardly ever parse. `data` holds up to `max`
 * bytes; each function returns the new size. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef FUZZING
/* Lines of PTX are moved, doubled and dropped, registers exchanged, numbers set to sizes at which
 * sums wrap, and variables of such sizes declared. */
size_t mutate_ptx(uint8_t *data, size_t size, size_t max, unsigned seed);
/* Fields of headers are set to such sizes or to offsets within the file, entries doubled,
 * overlapped, and put inside others. */
size_t mutate_fatbin(uint8_t *data, size_t size, size_t max, unsigned seed);
#endif
