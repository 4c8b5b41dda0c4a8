/* driver_unsupported.c — the calls of driver_unsupported.def: each returns
 * CUDA_ERROR_NOT_SUPPORTED, whose number is the runtime's, and says its name once. As
 * unsupported.c. */

int wb_unsupported(const char *call);

#define UNSUPPORTED(name) \
    int name(void);       \
    int name(void) { return wb_unsupported(#name); }
#include "grader/runtime/driver_unsupported.def"
