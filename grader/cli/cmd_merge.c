/* cmd_merge.c — grader merge STORE FROM…: the results of other stores, such as of the shards of one
 * batch, into this one. */
#include "grader/cli/class_args.h"

#include <stdio.h>

int cmd_merge(const struct options *o) {
    struct err e = {0};
    struct store s;
    bool ok = true;
    if (o->nnames < 2)
        return err_set(&e, ERR_INPUT,
                       "merge takes a store, made where it is not there, and the stores to add"),
               cli_complain(&e);
    if (!store_open(&s, o->names[0], true, &e)) return cli_complain(&e);
    for (unsigned i = 1; i < o->nnames && ok; i++) {
        long long twice = 0, added = 0;
        ok = class_merge(&s, o->names[i], &twice, &added, &e);
        if (ok) printf("%s: %lld result%s added", o->names[i], added, added == 1 ? "" : "s");
        if (ok) printf(twice ? "; %lld were there already, all equal\n" : "\n", twice);
    }
    store_close(&s);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
