/* line_table.h — finds the source line of an address in a DWARF line table (.debug_line). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_section {
    const uint8_t *data;
    size_t size;
};
/* The sections of one object, as in its file. Missing ones have size 0. */
struct line_sections {
    struct line_section line, line_strings, strings;
};

struct line_position {
    char file[256]; /* relative to the compiler's folder, or absolute */
    unsigned line;
    bool is_inlined; /* No line: the code was inlined into a function of the program. */
};

/* Finds the line of an address (as in the file) of the function that begins at `function`, and
 * returns true. Headers of the system and of CUDA don't count, nor does what nvcc generates; which
 * line calls an inlined function of theirs is not in this table. Reads DWARF 2 to 5, and nothing
 * outside the sections, whatever they hold. One thread at a time. */
bool wb_line_table_find(const struct line_sections *sections, uint64_t function, uint64_t address,
                        struct line_position *out);
