/* store_fixture.h — runs the tests of a suite on both kinds of stores: files, and databases of a
 * PostgreSQL server that the fixture starts for the suite, on a socket in a temporary folder.
 *
 * Tests run store_fixture_folder()/grader and sqlite3, and name stores NAME.db. For a server both
 * are scripts: `grader` replaces each NAME.db by the URL of a database, which it makes, and
 * `sqlite3 NAME.db SQL` runs psql. Each test has databases of its own. */
#pragma once
#include <check.h>

/* Adds the tests that `add` adds to a test case, once for each kind of store. Without a server on
 * this machine, skips that kind. */
void store_fixture_add_cases(Suite *s, const char *name, void (*add)(TCase *t));
/* The same, but those on a server are long tests: for tests of what the instructor reads, whose SQL
 * the suites `db` and `store` run on a server each time. */
void store_fixture_add_long_server_cases(Suite *s, const char *name, void (*add)(TCase *t));
/* From now on, no store exists: for tests that make several classes. */
void store_fixture_reset(void);
/* The folder of the command `grader`. */
const char *store_fixture_folder(void);
/* Is the running test's store on a server? */
int store_fixture_is_server(void);
/* The folder of the server's socket. Its database `guarded` is the role guarded's, and asks for the
 * password `right`. */
const char *store_fixture_server(void);
/* Returns the name of a store as store_open takes it: a path in `folder`, or a database's URL. */
const char *store_fixture_location(const char *folder, const char *name);
