/* store.h — a class's submissions and results, and all that each result depends on: one SQLite
 * file, or a PostgreSQL database that graders on several machines share. The class commands use it.
 * Each result is committed as soon as it is computed; a kill, a full disk or a power cut loses
 * nothing that was committed. docs/store.md documents the tables. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "grader/class/db.h"

#include <stdbool.h>

struct store {
    struct db *db;
    char path[512];    /* for messages; has no password */
    char *location;    /* as given, with a password if it has one: never print it */
    bool has_attached; /* the other store is attached, not copied */
};
/* Opens a store: a path, postgresql://… or service=NAME. If `create`, creates it if it doesn't
 * exist. If `location` is NULL, the store is temporary: store_close deletes it. */
bool store_open(struct store *s, const char *location, bool create, struct err *e);
void store_close(struct store *s);
/* Writes a location as it may be printed: without a password. */
void store_shown_name(const char *location, char *out, size_t size);

/* Executes a statement. `types` has a letter for each argument: t text (NULL = NULL), l long long,
 * f double (NAN = NULL), b struct buf *. The SQL is what both databases understand
 * (docs/architecture.md); ? or ?1, ?2 … stand for the arguments. */
bool store_exec(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* Returns the number of rows that the last statement changed. */
long long store_changed_rows(struct store *s);
/* Returns a query's rows for store_step; NULL on failure. */
struct store_rows *store_query(struct store *s, struct err *e, const char *sql, const char *types,
                               ...);
/* Fetches the next row. Returns false at the end and on an error; both finalize the query. */
bool store_step(struct store *s, struct store_rows **q, struct err *e);
/* Finalizes a query early; does nothing if it is finalized already. */
void store_finalize(struct store_rows **q);
/* Returns the number that a query yields; -1 = error. */
long long store_query_int(struct store *s, struct err *e, const char *sql);

/* A column of the current row. */
int store_column_count(struct store_rows *q);
bool store_column_is_null(struct store_rows *q, int column);
bool store_column_is_number(struct store_rows *q, int column);
const char *store_column_text(struct store_rows *q, int column); /* never NULL */
int store_column_int(struct store_rows *q, int column);          /* 0 = NULL, or false */
long long store_column_int64(struct store_rows *q, int column);
double store_column_double(struct store_rows *q, int column);
/* The bytes, or those of a text; valid until the next step. */
const void *store_column_bytes(struct store_rows *q, int column);
size_t store_column_size(struct store_rows *q, int column);

bool store_begin(struct store *s, struct err *e); /* a write transaction; no other one writes */
/* Begins a write transaction beside others, which the database may let run at the same time; it
 * must hold for whatever they change. */
bool store_begin_shared(struct store *s, struct err *e);
/* Commits; rolls back if `ok` is false or the commit fails. Returns true if committed. */
bool store_commit(struct store *s, bool ok, struct err *e);

/* What is deleted between the two calls leaves no byte in the store. */
bool store_prepare_erase(struct store *s, struct err *e);
bool store_erase(struct store *s, struct err *e);

/* Makes the tables and the gradebook of another store readable as other_student, other_gradebook
 * and so on (store_attached.def), after bringing that store up to date. False if it is none. */
bool store_attach(struct store *s, const char *location, struct err *e);
/* Ends that; returns `ok`, or false with an error. If `ok` is false, `e` stays. */
bool store_detach(struct store *s, bool ok, struct err *e);
