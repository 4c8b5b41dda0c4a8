/* unsupported.c — the calls of unsupported.def: each returns cudaErrorNotSupported and says its
 * name once. They take no parameters here, which the calling conventions of x86-64 and aarch64
 * allow: arguments are the caller's affair. This file therefore sees none of the toolkit's headers.
 */

int wb_unsupported(const char *call);

#define UNSUPPORTED(name) \
    int name(void);       \
    int name(void) { return wb_unsupported(#name); }
#include "grader/runtime/unsupported.def"
