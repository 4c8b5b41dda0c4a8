/* compiler_jail.h — what build.c and ptxas.c share: the jail in which NVIDIA's compilers run. */
#pragma once
#include "grader/jail/jail.h"

#include <limits.h>

enum { BUILD_ARCH = 90, BUILD_SECONDS = 60 }; /* compute capability of the PTX that is executed */

/* Binds of the compiler's jail: the system, the toolkit, our runtime library. */
struct compiler_jail {
    struct jail_bind binds[24];
    unsigned nbinds;
    bool has_compiler; /* there is a toolkit */
    char cuda[PATH_MAX], disassembler[PATH_MAX], library[PATH_MAX + 32];
};
bool build_compiler_jail(struct compiler_jail *t, struct err *e);
/* Where NVIDIA's disassembler is; `path` may be NULL. False: there is none, or nobody asked for
 * machine code. */
bool build_disassembler(char path[PATH_MAX]);
extern const char *const build_environment[];
extern const struct jail_limits build_limits;
