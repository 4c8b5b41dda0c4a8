/* test_db.c — tests what stores on a server have besides files: names without passwords, messages,
 * versions, leases. The suites of the class commands run on both kinds of stores. */
#include "common/clock.h"
#include "common/text.h"
#include "grader/class/db.h"
#include "grader/class/store.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(a_shown_location_has_no_password) {
    static const char *const locations[][2] = {
        {"postgresql://db/hw1", "postgresql://db/hw1"},
        {"postgres://poe:secret@db:5433/hw1", "postgres://poe@db:5433/hw1"},
        {"postgresql://poe@db/hw1?password=secret&port=5&sslmode=require",
         "postgresql://poe@db/hw1?port=5"},
        {"postgresql://poe@db/hw1?service=a&password=secret", "postgresql://poe@db/hw1?service=a"},
        {"postgresql://:secret@db/hw1", "postgresql://@db/hw1"},
        {"postgresql://poe:secret@[::1]:5/hw1", "postgresql://poe@[::1]:5/hw1"},
        {"service=class password=secret", "service=class"},
        {"service=class host=db sslpassword=secret", "service=class host=db"},
    };
    char shown[200];
    for (unsigned i = 0; i < sizeof locations / sizeof *locations; i++) {
        ck_assert(db_is_server(locations[i][0]));
        ck_assert(db_shown_location(locations[i][0], shown, sizeof shown));
        ck_assert_str_eq(shown, locations[i][1]);
    }
    ck_assert(!db_is_server("hw1.db"));
    ck_assert(!db_is_server("postgresql/hw1.db"));
}
END_TEST

/* libpq would take a part of these passwords for a host or a port, and print it. */
START_TEST(a_password_that_ends_elsewhere_is_not_shown) {
    static const char *const locations[] = {
        "postgresql://poe:sec@ret@db/hw1", "postgresql://poe:sec/ret@db/hw1",
        "postgresql://poe:sec?ret@db/hw1", "postgresql://poe:/secret@db/hw1"};
    for (unsigned i = 0; i < sizeof locations / sizeof *locations; i++) {
        char shown[200];
        struct store s;
        struct err e = {0};
        ck_assert(!db_shown_location(locations[i], shown, sizeof shown));
        ck_assert_str_eq(shown, "postgresql://");
        ck_assert(!store_open(&s, locations[i], true, &e));
        ck_assert_msg(!strstr(e.text, "sec") && !strstr(e.text, "ret@"), "%s", e.text);
    }
}
END_TEST

START_TEST(invalid_bytes_become_replacement_characters) {
    struct buf out = {0};
    text_put_utf8(&out, "a\xc3\xa9\xff\xe2\x82z\xed\xa0\x80");
    ck_assert_str_eq(buf_str(&out), "a\xc3\xa9\ufffd\ufffd\ufffdz\ufffd\ufffd\ufffd");
    buf_free(&out);
}
END_TEST

/* ---- on both kinds of stores ---- */

static void open_store(struct store *s, bool create) {
    struct err e = {0};
    const char *location = store_fixture_location(build_folder(), "tests/db.db");
    ck_assert_msg(store_open(s, location, create, &e), "%s", e.text);
}

static void make_store(struct store *s) {
    if (store_fixture_is_server()) shell("grader export db.db >/dev/null 2>&1");
    else shell("rm -f %s/tests/db.db*", build_folder());
    open_store(s, true);
}

START_TEST(values_come_back_as_they_were_stored) {
    static const char bytes[] = "\0\\x\xff'";
    struct store s;
    struct err e = {0};
    struct buf body = {0};
    make_store(&s);
    buf_add(&body, bytes, sizeof bytes);
    ck_assert(store_exec(&s, &e,
                         "CREATE TEMP TABLE v (a TEXT, b BIGINT, c DOUBLE PRECISION, d TEXT, e "
                         "DOUBLE PRECISION)",
                         ""));
    ck_assert_msg(store_exec(&s, &e, "INSERT INTO source VALUES (?, ?)", "tb", "k", &body), "%s",
                  e.text);
    ck_assert_msg(store_exec(&s, &e, "INSERT INTO v VALUES (?3, ?1, ?2, ?4, ?5)", "lfttf",
                             -(1LL << 62), 0.1, "it's ? \\", NULL, (double)NAN),
                  "%s", e.text);
    ck_assert_int_eq(store_changed_rows(&s), 1);
    struct store_rows *q =
        store_query(&s, &e, "SELECT a, b, c, d, e, body FROM v, source WHERE a <> '?'", "");
    ck_assert_msg(store_step(&s, &q, &e), "%s", e.text);
    ck_assert_str_eq(store_column_text(q, 0), "it's ? \\");
    ck_assert_int_eq(store_column_int64(q, 1), -(1LL << 62));
    ck_assert_double_eq(store_column_double(q, 2), 0.1);
    ck_assert(store_column_is_null(q, 3) && store_column_is_null(q, 4));
    ck_assert(store_column_is_number(q, 1) && !store_column_is_number(q, 0));
    ck_assert_uint_eq(store_column_size(q, 5), sizeof bytes);
    ck_assert_mem_eq(store_column_bytes(q, 5), bytes, sizeof bytes);
    ck_assert(!store_step(&s, &q, &e));
    store_close(&s), buf_free(&body);
}
END_TEST

START_TEST(an_error_rolls_the_transaction_back) {
    struct store s;
    struct err e = {0}, error = {0};
    make_store(&s);
    ck_assert(store_begin(&s, &e));
    ck_assert(store_exec(&s, &e, "INSERT INTO setting VALUES ('a', 'b')", ""));
    ck_assert(!store_exec(&s, &error, "INSERT INTO setting VALUES ('a', 'c')", ""));
    ck_assert(!store_commit(&s, false, &e));
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(*) FROM setting"), 0);
    store_close(&s);
}
END_TEST

static void set_version(struct store *s, long long version) {
    struct err e = {0};
    if (store_fixture_is_server()) store_exec(s, &e, "DELETE FROM warpbook_schema", "");
    ck_assert_msg(s->db->driver->set_schema_version(s->db, version, &e), "%s", e.text);
}

/* What versions 6 to 8 added to the tables. */
static const char *const undo_sql[] = {
    "ALTER TABLE claim DROP COLUMN expires", "ALTER TABLE assignment DROP COLUMN tolerance",
    "ALTER TABLE assigned DROP COLUMN varied", "ALTER TABLE student DROP COLUMN variant",
    "DROP TABLE variant_check"};

START_TEST(older_tables_are_renewed_and_newer_ones_refused) {
    struct store s;
    struct err e = {0};
    make_store(&s);
    for (unsigned i = s.db->driver->view_count; i--;) {
        char sql[80];
        snprintf(sql, sizeof sql, "DROP VIEW %s", s.db->driver->views[i].name);
        ck_assert_msg(store_exec(&s, &e, sql, ""), "%s", e.text);
    }
    for (unsigned i = 0; i < sizeof undo_sql / sizeof *undo_sql; i++)
        ck_assert_msg(store_exec(&s, &e, undo_sql[i], ""), "%s", e.text);
    set_version(&s, 5), store_close(&s), open_store(&s, false);
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(expires) FROM claim"), 0);
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(tolerance) FROM assignment"), 0);
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(variant) FROM student"), 0);
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(varied) FROM assigned"), 0);
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(*) FROM variant_check"), 0);
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(*) FROM total"), 0);
    set_version(&s, 99), store_close(&s);
    ck_assert(!store_open(&s, store_fixture_location(build_folder(), "tests/db.db"), true, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "made by a newer grader (schema 99)"));
}
END_TEST

static void add_common_tests(TCase *t) {
    tcase_add_test(t, values_come_back_as_they_were_stored);
    tcase_add_test(t, an_error_rolls_the_transaction_back);
    tcase_add_test(t, older_tables_are_renewed_and_newer_ones_refused);
}

/* ---- on a server ---- */

/* Fails unless a store can't be opened, with this in the message, and without a password. */
static void refuses(const char *url, const char *message) {
    char location[300];
    struct store s;
    struct err e = {0};
    snprintf(location, sizeof location, url, store_fixture_server());
    ck_assert(!store_open(&s, location, false, &e));
    ck_assert_msg(strstr(e.text, message) && !strstr(e.text, "wr0ng"), "%s", e.text);
}

START_TEST(messages_of_the_server_name_the_remedy) {
    if (!store_fixture_is_server()) return;
    refuses("postgresql://guarded:wr0ng@/guarded?host=%s", "check the password");
    refuses("postgresql://guarded@/guarded?host=%s&passfile=/dev/null", ".pgpass");
    refuses("postgresql://warpbook:wr0ng@/none?host=%s", "database \"none\" does not exist");
    refuses("postgresql://warpbook:wr0ng@/none?host=%s/none", "check the URL");
    refuses("postgresql://warpbook:wr0ng@127.0.0.1:1/none", "that the server runs");
    refuses("postgresql://warpbook:wr0ng@/postgres?host=%s&nothing=1", "not a valid URL");
    refuses("postgresql://warpbook@/postgres?host=%s", "has no store of the grader");
}
END_TEST

START_TEST(a_password_leaves_the_environment) {
    struct store s;
    struct err e = {0};
    char location[300];
    if (!store_fixture_is_server()) return;
    snprintf(location, sizeof location, "postgresql://guarded@/guarded?host=%s",
             store_fixture_server());
    setenv("PGPASSWORD", "right", 1);
    ck_assert_msg(store_open(&s, location, true, &e), "%s", e.text);
    ck_assert_ptr_null(getenv("PGPASSWORD"));
    store_close(&s);
    ck_assert_msg(store_open(&s, location, false, &e), "%s", e.text); /* It is remembered. */
    store_close(&s);
}
END_TEST

START_TEST(a_lost_connection_is_reported_and_made_again) {
    struct store s, other;
    struct err e = {0};
    if (!store_fixture_is_server()) return;
    make_store(&s), open_store(&other, false);
    ck_assert(store_begin(&s, &e));
    ck_assert(store_exec(&other, &e,
                         "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                         "current_database() AND pid <> pg_backend_pid()",
                         ""));
    ck_assert(!store_exec(&s, &e, "INSERT INTO setting VALUES ('a', 'b')", ""));
    ck_assert_msg(strstr(e.text, "no committed result is lost"), "%s", e.text);
    ck_assert(!store_commit(&s, false, &e));
    e = (struct err){0};
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT count(*) FROM setting"), 0);
    store_close(&s), store_close(&other);
}
END_TEST

/* The server answers as if its disk were full. */
START_TEST(a_full_disk_of_the_server_is_reported) {
    struct store s;
    struct err e = {0};
    if (!store_fixture_is_server()) return;
    make_store(&s);
    ck_assert_msg(store_exec(&s, &e,
                             "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                             "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END "
                             "$$",
                             "") &&
                      store_exec(&s, &e,
                                 "CREATE TRIGGER full_disk BEFORE INSERT ON setting FOR EACH ROW "
                                 "EXECUTE FUNCTION fail()",
                                 ""),
                  "%s", e.text);
    ck_assert(!store_exec(&s, &e, "INSERT INTO setting VALUES ('a', 'b')", ""));
    ck_assert_int_eq(e.kind, ERR_SYSTEM);
    ck_assert_msg(strstr(e.text, "could not extend file; free disk space on the server"), "%s",
                  e.text);
    store_close(&s);
}
END_TEST

/* The claim of a grader on another machine, which was killed: its lease ends in 4 seconds. */
START_TEST(a_claim_of_another_machine_lasts_as_long_as_its_lease) {
    char folder[4200];
    if (!store_fixture_is_server()) return;
    snprintf(folder, sizeof folder, "%s/tests/db_lease", build_folder());
    ck_assert_int_eq(
        shell("rm -rf %s && mkdir -p %s/c/bob && cd %s && echo '#error one' "
              ">c/bob/transpose.cu && grader batch c --store l.db >out 2>&1; [ $? = 1 ]",
              folder, folder, folder),
        0);
    ck_assert_int_eq(
        shell(
            "cd %s && sqlite3 l.db \"DELETE FROM result; INSERT INTO claim SELECT key, 'elsewhere "
            "1 1', CAST(extract(epoch FROM clock_timestamp()) AS BIGINT) + 4 FROM submission\"",
            folder),
        0);
    double start = clock_seconds();
    ck_assert_int_eq(shell("cd %s && grader batch --store l.db >out 2>&1", folder), 1);
    ck_assert_double_ge(clock_seconds() - start, 3);
    ck_assert_int_eq(shell("cd %s && [ \"$(sqlite3 l.db 'SELECT (SELECT count(*) FROM result), "
                           "(SELECT count(*) FROM claim)')\" = '1|0' ]",
                           folder),
                     0);
}
END_TEST

/* What a Slurm array runs for each task, without Slurm: two tasks at once, and no shard. */
START_TEST(tasks_of_an_array_share_a_store) {
    char folder[4200];
    const char *url = store_fixture_location("", "a.db");
    if (!store_fixture_is_server()) return;
    snprintf(folder, sizeof folder, "%s/tests/db_array", build_folder());
    ck_assert_int_eq(
        shell(
            "rm -rf %s && mkdir -p %s/c && cp grader/template/slurm.sh %s && cd %s && for i in 1 2 "
            "3 4; do mkdir c/s$i && echo \"#error $i\" >c/s$i/transpose.cu; done && grader intake "
            "c --exercise transpose --store a.db --output rows",
            folder, folder, folder, folder),
        0);
    ck_assert_int_eq(shell("cd %s && sh slurm.sh '%s' 2>one & cd %s && sh slurm.sh '%s' 2>two && "
                           "wait $!",
                           folder, url, folder, url),
                     0);
    ck_assert_int_eq(
        shell("cd %s && [ \"$(sqlite3 a.db \"SELECT count(*), count(DISTINCT seed) FROM "
              "gradebook WHERE verdict = 'CE'\")\" = '4|1' ]",
              folder),
        0);
}
END_TEST

static void add_server_tests(TCase *t) {
    tcase_add_test(t, messages_of_the_server_name_the_remedy);
    tcase_add_test(t, a_password_leaves_the_environment);
    tcase_add_test(t, a_lost_connection_is_reported_and_made_again);
    tcase_add_test(t, a_full_disk_of_the_server_is_reported);
    tcase_add_test(t, a_claim_of_another_machine_lasts_as_long_as_its_lease);
    tcase_add_test(t, tasks_of_an_array_share_a_store);
    tcase_set_timeout(t, 180);
}

UNIT_SUITE(db) {
    Suite *s = suite_create("db");
    TCase *t = tcase_create("db");
    tcase_add_test(t, a_shown_location_has_no_password);
    tcase_add_test(t, a_password_that_ends_elsewhere_is_not_shown);
    tcase_add_test(t, invalid_bytes_become_replacement_characters);
    suite_add_tcase(s, t);
    store_fixture_add_cases(s, "db", add_common_tests);
    store_fixture_add_cases(s, "server", add_server_tests);
    return s;
}
