/* store.h — what is known of a class, in one SQLite file: who handed in what, and every result with
 * all that it depends on. Each result is committed when it is there; a store that was closed by a
 * kill, a full disk or a power cut has all that was committed. Several graders may work on one
 * store of one machine at the same time. docs/store.md has the tables. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <sqlite3.h>
#include <stdbool.h>

struct store {
    sqlite3 *db;
    char path[512]; /* for messages */
};
/* `path` NULL: a private one that goes when it is closed. `create`: make it where it is not there.
 */
bool store_open(struct store *s, const char *path, bool create, struct err *e);
void store_close(struct store *s);

/* Arguments by letter: t text (NULL is NULL), l long long, f double (NAN is NULL), b a struct buf
 * *. */
bool store_exec(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* A query under way, or NULL. */
sqlite3_stmt *store_query(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* False at the end, which also ends the query, and on an error, which `e` then says. */
bool store_step(struct store *s, sqlite3_stmt **q, struct err *e);
/* Ends a query before its end. */
void store_finalize(sqlite3_stmt **q);
const char *store_column_text(sqlite3_stmt *q, int column); /* never NULL */
long long store_query_int(struct store *s, struct err *e,
                          const char *sql); /* the one number of a query; -1 = error */

bool store_begin(struct store *s, struct err *e); /* with the right to write */
/* Commits, or takes back where `ok` is false or it can't be committed. */
bool store_commit(struct store *s, bool ok, struct err *e);
