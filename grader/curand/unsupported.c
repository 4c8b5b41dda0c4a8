/* unsupported.c — the calls of unsupported.def: each returns CURAND_STATUS_TYPE_ERROR and
 * reports its name once. As in grader/runtime/unsupported.c, they are defined without parameters.
 */

int wb_unsupported(const char *call);
enum { TYPE_ERROR = 103 };

#define UNSUPPORTED(name)      \
    int name(void);            \
    int name(void) {           \
        wb_unsupported(#name); \
        return TYPE_ERROR;     \
    }
#include "grader/curand/unsupported.def"
