/* host_header.h — what is the same in each build and needs compiling once: the start of the host
 * code that cudafe++ writes, which is cuda_runtime.h with all that it includes, as a precompiled
 * header of gcc; the list of nvcc's steps; and what the linker has to know of libstdc++. */
#pragma once
#include "common/hash.h"
#include "grader/jail/jail.h"

#include <limits.h>
#include <stdbool.h>

enum { HOST_HEADER_FILES = 8 };

/* Paths in the cache, and where nvcc_phases_script looks for them. */
struct host_header {
    char paths[HOST_HEADER_FILES][PATH_MAX];
    struct jail_bind binds[HOST_HEADER_FILES];
    unsigned nbinds; /* 0 = there is none; every build works without */
};

/* Finds the header, or makes it in a sandbox of its own, without any submission: a header made
 * beside one submission could change another's object. `job` compiles a file with the options of
 * all builds; its argv begins with /bin/sh -c SCRIPT and names the file host_header_source.
 * `key` covers compilers and options. The second call makes it, in about a second. */
void host_header_prepare(struct host_header *h, const char key[HASH_HEX_SIZE],
                         const struct jail_job *job);
extern const char host_header_source[];
/* The script that makes the header; takes the arguments of nvcc_phases_script. Free it. */
char *host_header_script(void);
