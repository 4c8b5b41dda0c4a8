/* trim.h — puts in front of a source only those declarations of cuda_runtime.h that it may refer
 * to. nvcc's front ends need most of their time for these declarations. trim.c says why the result
 * compiles to the same code. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Declarations of a text that can be removed, each with the names that refer to it. */
struct declaration {
    size_t begin, end;      /* its bytes in the text */
    unsigned first, nnames; /* its names, in declaration_list.names */
};

struct declared_name {
    size_t begin;
    size_t length;
};

struct declaration_list {
    const char *text;
    struct declaration *at;
    struct declared_name *names;
    unsigned n, nnames, capacity, names_capacity;
};

/* Splits `size` bytes of preprocessed headers into the declarations at file and namespace scope.
 * Leaves out those that are required whatever the rest names, and what it does not understand. */
void declarations_split(struct declaration_list *list, const char *text, size_t size);
void declarations_free(struct declaration_list *list);

/* Appends the preprocessed text of a source, which was read with the macros of `header`, to those
 * declarations of the header that it may refer to. All lines keep their numbers. Returns false if
 * the text has another form than gcc's, or the header too many names. */
bool trim_headers(const char *header, size_t header_size, const char *text, size_t size,
                  struct buf *out);

/* Appends the source's own part of the host code that cudafe++ wrote for a trimmed file. Returns
 * false unless the rest consists of statements of `header`, in their order: then the own part
 * belongs behind the whole header, too. */
bool trim_own_part(const char *header, size_t header_size, const char *text, size_t size,
                   struct buf *out);
