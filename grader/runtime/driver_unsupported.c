/* driver_unsupported.c — the calls of driver_unsupported.def: each returns
 * CUDA_ERROR_NOT_SUPPORTED, which has the same number as the runtime's code, and reports its
 * name once. See unsupported.c. */

int wb_unsupported(const char *call);

#define UNSUPPORTED(name) \
    int name(void);       \
    int name(void) { return wb_unsupported(#name); }
#include "grader/runtime/driver_unsupported.def"
