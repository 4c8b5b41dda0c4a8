/* class_copies.c — see class_copies.h. The graders run one after another: each uses all cores. */
#include "grader/cli/class_copies.h"
#include "grader/class/assignment_draw.h"
#include "grader/cli/vary.h"
#include "grader/grade/gpu_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGS = 40, NUMBER_BYTES = 48 };

struct command_line {
    const char *args[MAX_ARGS + 1];
    unsigned n;
    char program[4200], device[80], jobs[NUMBER_BYTES], threads[NUMBER_BYTES], shard[NUMBER_BYTES];
};

bool cli_copies_are_used(const struct options *o) {
    return o->loaded_assignment && o->loaded_assignment->variants.count && !vary_copy_number(NULL);
}

/* ---- one grader ---- */

static void put(struct command_line *c, const char *arg) {
    if (c->n == MAX_ARGS) die("a command line has over %d arguments", MAX_ARGS);
    c->args[c->n++] = arg;
}

static void put_option(struct command_line *c, const char *name, const char *value) {
    put(c, name), put(c, value);
}

static void put_number(struct command_line *c, const char *name, unsigned n,
                       char text[NUMBER_BYTES]) {
    if (!n) return;
    snprintf(text, NUMBER_BYTES, "%u", n);
    put_option(c, name, text);
}

static void put_program(struct command_line *c, const struct assignment *a, unsigned number) {
    char copy[4096];
    assignment_draw_copy(a, number, copy);
    snprintf(c->program, sizeof c->program, "%s/build/grader", copy);
    put(c, c->program);
}

/* Returns true if the copy finds the seed in the assignment or the store. Then it isn't an
 * argument, since other users of the machine see those. */
static bool is_seed_on_file(const struct options *o, const char *seed) {
    return !o->has_seed || !strcmp(o->loaded_assignment->seed, seed);
}

/* Puts the options of this grader that change results or the time they take. */
static void put_options(struct command_line *c, const struct options *o) {
    const struct gpu_device *d = o->devices[0];
    put_option(c, "--assignment", o->loaded_assignment->path);
    snprintf(c->device, sizeof c->device, "%s%.60s",
             gpu_options_of(d) ? "gpu" : "sim:", gpu_options_of(d) ? "" : d->name);
    put_option(c, "--device", c->device);
    put_number(c, "--jobs", o->jobs, c->jobs), put_number(c, "--threads", o->workers, c->threads);
    if (o->exercise) put_option(c, "--exercise", o->exercise);
    if (o->ignore_modelled_speed) put(c, "--no-modelled-speed");
    if (o->no_cache) put(c, "--no-cache");
    if (o->no_jail) put(c, "--no-jail");
    if (!o->shard_count) return;
    snprintf(c->shard, sizeof c->shard, "%u/%u", o->shard_number, o->shard_count);
    put_option(c, "--shard", c->shard);
}

/* Returns the exit status; -1 = it didn't start or was killed. */
static int run(const struct command_line *c) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execv(c->program, (char *const *)c->args);
        _exit(127);
    }
    if (child < 0) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A status of 3 may be a submission's IE, which the store has and a later run tries again. */
static bool run_copy(const struct options *o, struct store *s, unsigned number, const char *command,
                     const char *seed, bool *has_failed, struct err *e) {
    struct command_line c = {0};
    bool is_batch = !strcmp(command, "batch");
    put_program(&c, o->loaded_assignment, number), put(&c, command);
    if (is_batch) put_option(&c, "--store", s->location), put_option(&c, "--output", "/dev/null");
    else put(&c, s->location), printf("variant %u:\n", number);
    put(&c, is_batch ? "--accept-unclear" : "--diff");
    put_options(&c, o);
    if (!is_batch || !is_seed_on_file(o, seed)) put_option(&c, "--seed", seed);
    int status = run(&c);
    if (has_failed) *has_failed |= status == EXIT_FAILED;
    if (status == EXIT_PASSED || status == EXIT_FAILED) return true;
    if (status == EXIT_INTERNAL_ERROR &&
        store_query_int(s, e, "SELECT count(*) FROM gradebook WHERE verdict = 'IE'") > 0)
        return true;
    return err_set(e, ERR_SYSTEM, "%s: the grader of variant %u failed; see above", c.program,
                   number);
}

/* ---- all of them ---- */

static bool run_round(const struct options *o, struct store *s, const char *command,
                      const char *seed, bool *has_failed, struct err *e) {
    bool ok = true;
    for (unsigned k = 1; k <= o->loaded_assignment->variants.count && ok; k++)
        ok = run_copy(o, s, k, command, seed, has_failed, e);
    return ok;
}

/* A copy checks the failures that the store has when it runs. So in a second round, the first
 * copies check those of the last ones. */
bool cli_copies_run(const struct options *o, struct store *s, const char *command, const char *seed,
                    bool *has_failed, struct err *e) {
    if (!s->location) return err_set(e, ERR_INPUT, "an assignment with [variants] needs --store");
    if (!run_round(o, s, command, seed, has_failed, e)) return false;
    if (strcmp(command, "batch")) return true;
    long long n = assignment_draw_count_unchecked(o->loaded_assignment, s, e);
    if (n <= 0) return n == 0;
    return run_round(o, s, command, seed, has_failed, e) && cli_class_grade(o, s, seed, false, e);
}

/* ---- one student ---- */

static unsigned number_of_student(struct store *s, const char *student, struct err *e) {
    struct store_rows *q =
        store_query(s, e, "SELECT variant FROM student WHERE id = ?", "t", student);
    unsigned number = store_step(s, &q, e) ? (unsigned)store_column_int(q, 0) : 0;
    store_finalize(&q);
    return number;
}

bool cli_copies_forward(const struct options *o, struct store *s, const char *student,
                        const struct exercise *ex, struct err *e) {
    const struct assignment *a = o->loaded_assignment;
    const struct assignment_part *part = a ? assignment_find_part(a, ex) : NULL;
    struct command_line c = {0};
    unsigned number = number_of_student(s, student, e);
    if (!part || !part->is_varied || !number || !cli_copies_are_used(o)) return !e->text[0];
    put_program(&c, a, number), put(&c, o->command);
    for (unsigned i = 0; i < o->noperands; i++) put(&c, o->operands[i]);
    put_option(&c, "--assignment", a->path);
    fflush(stdout);
    execv(c.program, (char *const *)c.args);
    return err_set(e, ERR_SYSTEM, "%s: %s", c.program, strerror(errno));
}
