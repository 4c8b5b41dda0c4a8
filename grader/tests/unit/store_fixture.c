/* store_fixture.c — see store_fixture.h. The server refuses to run as root, so root's tests run it
 * as nobody. It ends with this process, however that ends. */
#include "grader/tests/unit/store_fixture.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char server_folder[64]; /* "" = not started */
static char programs[4096];    /* the folder of initdb, postgres and psql; "" = there is none */
static pid_t server_pid, owner_pid; /* the server's; the process that started it */
static char test_id[32];            /* a part of the names of databases */
static bool is_server;

static bool find_programs(void) {
    glob_t found;
    if (programs[0]) return true;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0)
        snprintf(programs, sizeof programs, "%s", found.gl_pathv[found.gl_pathc - 1]),
            *strrchr(programs, '/') = 0;
    globfree(&found);
    return programs[0];
}

/* Runs a program of PostgreSQL as a user who is not root. */
static pid_t start_as_nobody(char *const argv[]) {
    pid_t parent = getpid(), pid = fork();
    if (pid != 0) return pid;
    if (getuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent) _exit(126);
    char path[5000];
    snprintf(path, sizeof path, "%s/log", server_folder);
    if (!freopen(path, "a", stdout) || dup2(1, 2) < 0 || chdir(server_folder)) _exit(126);
    execv(argv[0], argv);
    _exit(127);
}

static void stop_server(void) {
    if (owner_pid != getpid()) return; /* the end of a test */
    kill(server_pid, SIGQUIT), waitpid(server_pid, NULL, 0);
    shell("rm -rf %s", server_folder);
}

static void write_script(const char *name, const char *command) {
    char path[128];
    struct buf text = {0};
    struct err e = {0};
    buf_printf(&text,
               "#!/bin/sh\n"
               "url() { name=$(basename \"$1\" .db); echo "
               "\"postgresql://warpbook@/t${STORE_TEST}_$name?host=%s\"; }\n"
               "make() { %s/psql -qX -h %s -U warpbook -d postgres -c "
               "\"CREATE DATABASE t${STORE_TEST}_$(basename \"$1\" .db)\" 2>/dev/null; }\n%s",
               server_folder, programs, server_folder, command);
    snprintf(path, sizeof path, "%s/bin/%s", server_folder, name);
    ck_assert_msg(file_write(path, buf_str(&text), text.size, &e), "%s", e.text);
    ck_assert_int_eq(chmod(path, 0755), 0);
    buf_free(&text);
}

static void write_scripts(void) {
    char command[5000];
    snprintf(
        command, sizeof command,
        "for word; do shift; case $word in *.db) make \"$word\"; word=$(url \"$word\") ;; esac; "
        "set -- \"$@\" \"$word\"; done\nexec %s/grader \"$@\"\n",
        build_folder());
    write_script("grader", command);
    snprintf(command, sizeof command,
             "export PGOPTIONS='-c bytea_output=escape'\n"
             "[ \"$2\" != .dump ] || exec pg_dump --data-only --inserts \"$(url \"$1\")\"\n"
             "exec %s/psql -qAtX -v ON_ERROR_STOP=1 -d \"$(url \"$1\")\" -c \"$2\"\n",
             programs);
    write_script("sqlite3", command);
}

/* Adds functions that SQLite has and some tests call. */
static void add_functions(void) {
    ck_assert_int_eq(
        shell("%s/psql -qX -h %s -U warpbook -d template1 -c \"CREATE FUNCTION joined(text, text) "
              "RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT coalesce(\\$1 || '','' || \\$2, "
              "\\$1, \\$2)'; CREATE AGGREGATE group_concat(text) (SFUNC = joined, STYPE = text)\"",
              programs, server_folder),
        0);
    ck_assert_int_eq(
        shell("%s/psql -qX -h %s -U warpbook -d postgres -c \"CREATE ROLE guarded LOGIN "
              "PASSWORD 'right'\" -c 'CREATE DATABASE guarded OWNER guarded'",
              programs, server_folder),
        0);
}

static void start_server(void) {
    char data[128], initdb[5000], postgres[5000];
    snprintf(server_folder, sizeof server_folder, "/tmp/warpbook-server-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(server_folder));
    ck_assert_int_eq(shell("chmod 755 %s && mkdir %s/bin", server_folder, server_folder), 0);
    if (getuid() == 0) ck_assert_int_eq(chown(server_folder, NOBODY, NOBODY), 0);
    snprintf(data, sizeof data, "%s/data", server_folder);
    snprintf(initdb, sizeof initdb, "%s/initdb", programs);
    snprintf(postgres, sizeof postgres, "%s/postgres", programs);
    int status;
    waitpid(start_as_nobody((char *[]){initdb, "-D", data, "-U", "warpbook", "-A", "trust", "-N",
                                       "--encoding=UTF8", "--locale=C.UTF-8", NULL}),
            &status, 0);
    ck_assert_msg(status == 0, "initdb failed, see %s/log", server_folder);
    /* The database `guarded` asks for a password, the others don't. */
    ck_assert_int_eq(shell("sed -i '1i local guarded all scram-sha-256' %s/pg_hba.conf", data), 0);
    owner_pid = getpid();
    /* Each test makes databases and asks them once: compiling a query, and writing a log that
     * survives a crash, cost more than the tests. */
    server_pid = start_as_nobody((char *[]){
        postgres, "-D", data, "-k", server_folder, "-c", "listen_addresses=", "-c", "fsync=off",
        "-c", "jit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off", NULL});
    atexit(stop_server);
    ck_assert_int_eq(shell("for i in $(seq 100); do %s/psql -qX -h %s -U warpbook -d postgres -c "
                           "'SELECT 1' >/dev/null 2>&1 && exit; sleep 0.1; done; false",
                           programs, server_folder),
                     0);
    write_scripts(), add_functions();
}

static void use_file(void) { is_server = false; }

static void use_server(void) {
    if (!server_pid) start_server();
    is_server = true;
}

/* Selects the names of the databases: by the process of the test, and how often it began anew. */
void store_fixture_reset(void) {
    static unsigned count;
    snprintf(test_id, sizeof test_id, "%d_%u", (int)getpid(), count++);
    setenv("STORE_TEST", test_id, 1);
}

/* Runs in each test's process. */
static void set_environment(void) {
    char path[8192];
    if (!is_server) return;
    snprintf(path, sizeof path, "%s/bin:%s", server_folder, getenv("PATH"));
    setenv("PATH", path, 1);
    store_fixture_reset();
}

static void add_cases(Suite *s, const char *name, void (*add)(TCase *t), const char *server_tag) {
    for (int i = 0; i < 2; i++) {
        if (i && !find_programs()) {
            unit_skip(name, "no PostgreSQL server; install postgresql to test stores on one");
            return;
        }
        char text[128];
        snprintf(text, sizeof text, "%s on %s", name, i ? "a server" : "files");
        TCase *t = tcase_create(xstrdup(text));
        tcase_add_unchecked_fixture(t, i ? use_server : use_file, NULL);
        tcase_add_checked_fixture(t, set_environment, NULL);
        add(t);
        if (i && server_tag) tcase_set_tags(t, server_tag);
        suite_add_tcase(s, t);
    }
}

void store_fixture_add_cases(Suite *s, const char *name, void (*add)(TCase *t)) {
    add_cases(s, name, add, NULL);
}

void store_fixture_add_long_server_cases(Suite *s, const char *name, void (*add)(TCase *t)) {
    add_cases(s, name, add, "long");
}

int store_fixture_is_server(void) { return is_server; }

const char *store_fixture_server(void) { return server_folder; }

const char *store_fixture_folder(void) {
    static char folder[128];
    snprintf(folder, sizeof folder, "%s/bin", server_folder);
    return is_server ? folder : build_folder();
}

const char *store_fixture_location(const char *folder, const char *name) {
    static char location[5000];
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (is_server)
        snprintf(location, sizeof location, "postgresql://warpbook@/t%s_%.*s?host=%s", test_id,
                 (int)strcspn(base, "."), base, server_folder);
    else snprintf(location, sizeof location, "%s/%s", folder, name);
    return location;
}
