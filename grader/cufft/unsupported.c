/* unsupported.c — the calls of unsupported.def: each returns CUFFT_NOT_SUPPORTED and reports its
 * name once. As in grader/runtime/unsupported.c, they are defined without parameters. */

int wb_unsupported(const char *call);
enum { NOT_SUPPORTED = 16 };

#define UNSUPPORTED(name)      \
    int name(void);            \
    int name(void) {           \
        wb_unsupported(#name); \
        return NOT_SUPPORTED;  \
    }
#include "grader/cufft/unsupported.def"
