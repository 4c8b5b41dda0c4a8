/* compiler_jail.h — the sandbox of NVIDIA's compilers, shared by build.c and ptxas.c. */
#pragma once
#include "grader/jail/jail.h"

#include <limits.h>

/* The compute capability of the PTX that is executed. Each process of a compiler may compute for
 * BUILD_SECONDS. On a busy machine that takes longer, so all of them have BUILD_WALL_SECONDS on the
 * wall: a submission must not fail because other programs run. */
enum { BUILD_ARCH = 90, BUILD_SECONDS = 60, BUILD_WALL_SECONDS = 4 * BUILD_SECONDS };

/* Binds of the sandbox: the system, the toolkit, our runtime library. */
struct compiler_jail {
    struct jail_bind binds[28];
    unsigned nbinds;
    bool has_compiler; /* a toolkit was found */
    char cuda[PATH_MAX], disassembler[PATH_MAX], library[PATH_MAX], trim_headers[PATH_MAX];
};
/* Describes a sandbox in which nvcc can run. Returns false if a part of the installation is
 * missing. */
bool build_compiler_jail(struct compiler_jail *t, struct err *e);
/* Sets the path of NVIDIA's disassembler; `path` may be NULL. Returns false if there is none, or if
 * disassembly is off. */
bool build_disassembler(char path[PATH_MAX]);
extern const char *const build_environment[];
extern const struct jail_limits build_limits;
