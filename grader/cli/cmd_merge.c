/* cmd_merge.c — grader merge STORE FROM…: adds the results of other stores, such as a batch's
 * shards, to STORE. */
#include "grader/cli/class_args.h"

#include <stdio.h>

int cmd_merge(const struct options *o) {
    struct err e = {0};
    struct store s;
    bool ok = true;
    if (o->noperands < 2)
        return err_set(&e, ERR_INPUT,
                       "merge takes a store, which it creates if missing, and the stores to add"),
               cli_report_error(&e);
    if (!store_open(&s, o->operands[0], true, &e)) return cli_report_error(&e);
    for (unsigned i = 1; i < o->noperands && ok; i++) {
        long long duplicates = 0, added = 0;
        char shown[512];
        store_shown_name(o->operands[i], shown, sizeof shown);
        ok = class_merge(&s, o->operands[i], &duplicates, &added, &e);
        if (ok) printf("%s: %lld result%s added", shown, added, added == 1 ? "" : "s");
        if (ok) printf(duplicates ? "; %lld already present, all equal\n" : "\n", duplicates);
    }
    store_close(&s);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
