/* unsupported.c — the calls of unsupported.def: each returns cudaErrorNotSupported and reports
 * its name once. They are defined without parameters, which the calling conventions of x86-64 and
 * aarch64 allow because the caller removes arguments. So this file includes no toolkit header. */

int wb_unsupported(const char *call);

#define UNSUPPORTED(name) \
    int name(void);       \
    int name(void) { return wb_unsupported(#name); }
#include "grader/runtime/unsupported.def"
