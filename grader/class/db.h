/* db.h — what a store requires of a database: statements with arguments, rows, transactions. Each
 * database has a driver: db_sqlite.c for a file, db_postgresql.c for a server. store.c chooses the
 * driver by the store's name and is the only caller; docs/architecture.md explains which SQL both
 * understand.
 *
 * Functions that can fail return false or NULL with an error that begins with the store's name as
 * it may be shown: without a password. */
#pragma once
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>

/* An argument of a statement, by the letter of its type as in store_exec: t text, l integer,
 * f real, b bytes, n NULL. */
struct db_value {
    char type;
    const char *text;
    long long integer;
    double real;
    const void *bytes;
    size_t size;
};

/* A connection and a query's rows; the drivers add their own members behind these. */
struct db {
    const struct db_driver *driver;
    char name[512]; /* of the store, for messages */
};
struct store_rows {
    struct db *db;
};

enum db_transaction {
    DB_EXCLUSIVE, /* nobody else writes until the commit */
    DB_SHARED     /* locks only the rows that it writes, if the database can */
};

struct db_migration {
    int version;
    const char *sql;
};
struct db_view {
    const char *name, *sql;
};

struct db_driver {
    /* Fragments of SQL that differ between the databases. */
    const char *now;         /* seconds since 1970 by the clock of the store, a bigint */
    const char *skip_locked; /* ends a SELECT: locks rows of the alias c, skips locked ones */
    /* True if the graders that work on one store may be on several machines. Then the process id of
     * one means nothing to another. */
    bool is_remote;

    /* Opens a store; a NULL `location` is a temporary one. If `create`, a missing one is created.
     */
    struct db *(*open)(const char *location, bool create, struct err *e);
    void (*close)(struct db *db);
    /* Returns the version of the tables; 0 = there are none; -1 = error. */
    long long (*schema_version)(struct db *db, struct err *e);
    bool (*set_schema_version)(struct db *db, long long version, struct err *e);
    /* The tables and views, in this database's SQL (db_schema.h). */
    const struct db_migration *migrations;
    const struct db_view *views;
    unsigned migration_count, view_count;

    struct store_rows *(*query)(struct db *db, const char *sql, const struct db_value *args,
                                unsigned n, struct err *e);
    bool (*step)(struct store_rows *rows, struct err *e); /* false at the end and on errors */
    void (*finalize)(struct store_rows *rows);
    long long (*changed_rows)(struct db *db); /* by the last statement */

    int (*column_count)(struct store_rows *rows);
    const char *(*column_name)(struct store_rows *rows, int column);
    bool (*column_is_null)(struct store_rows *rows, int column);
    bool (*column_is_number)(struct store_rows *rows, int column);
    bool (*column_is_bytes)(struct store_rows *rows, int column);
    double (*column_double)(struct store_rows *rows, int column);
    const char *(*column_text)(struct store_rows *rows, int column); /* NULL = NULL */
    /* Bytes, and the bytes of a text; valid until the next step. */
    const void *(*column_bytes)(struct store_rows *rows, int column, size_t *size);

    bool (*begin)(struct db *db, enum db_transaction kind, struct err *e);
    bool (*commit)(struct db *db, struct err *e);
    void (*roll_back)(struct db *db);
    /* Removes from the disk what the statements since `prepare_erase` deleted. */
    bool (*prepare_erase)(struct db *db, struct err *e);
    bool (*erase)(struct db *db, struct err *e);
    /* Makes the tables of another store of the same driver readable as other_TABLE, without a copy;
     * NULL if the driver can't. */
    bool (*attach)(struct db *db, const char *location, struct err *e);
    bool (*detach)(struct db *db, struct err *e);
};

extern const struct db_driver db_sqlite, db_postgresql;

/* Sets `e`, always returns false. The first line of `text` is the database's message. */
bool db_set_error(const struct db *db, enum err_kind kind, const char *text, const char *hint,
                  struct err *e);
/* Runs a statement without arguments. */
bool db_exec(struct db *db, const char *sql, struct err *e);

/* Returns true if `location` names a store on a server: postgresql://…, or service=NAME. */
bool db_is_server(const char *location);
/* Writes a server's location without its password and its options. Returns false if no part of it
 * may be shown, because it isn't clear where the password ends. */
bool db_shown_location(const char *location, char *out, size_t size);
