/* unsupported.c — the calls of unsupported.def: each returns CUSPARSE_STATUS_NOT_SUPPORTED and
 * reports its name once. As in grader/runtime/unsupported.c, they are defined without parameters.
 */

int wb_unsupported(const char *call);
enum { STATUS_NOT_SUPPORTED = 10 };

#define UNSUPPORTED(name)            \
    int name(void);                  \
    int name(void) {                 \
        wb_unsupported(#name);       \
        return STATUS_NOT_SUPPORTED; \
    }
#include "grader/cusparse/unsupported.def"
