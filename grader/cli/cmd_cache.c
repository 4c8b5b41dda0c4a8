/* cmd_cache.c — grader cache: shows the size of the cache; grader cache clear: empties it. */
#include "common/paths.h"
#include "grader/cli/commands.h"
#include "common/cache.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

int cmd_cache(const struct options *o) {
    struct err e = {0};
    struct cache_usage u;
    char folder[PATH_MAX];
    bool clears = o->noperands == 1 && !strcmp(o->operands[0], "clear");
    if (o->noperands && !clears) {
        err_set(&e, ERR_INPUT, "cache takes no argument, or `clear`");
        return cli_report_error(&e);
    }
    bool ok = paths_cache_dir(folder, &e) && (!clears || cache_clear(&e)) && cache_measure(&u, &e);
    if (!ok) return cli_report_error(&e);
    printf("%s\n%llu entries, %.1f of at most %llu MiB (WARPBOOK_CACHE_MIB sets the limit)\n",
           folder, u.entries, (double)u.bytes / (1 << 20), u.limit >> 20);
    return EXIT_PASSED;
}
