/* grade_class.c — grades the submissions of a store that have no result yet (class.h).
 *
 * A result's key is a digest of everything that it depends on. The to-do list has the keys of the
 * submissions, and the table `claim` has a row for each key that lacks a result. In one
 * transaction, a grader selects the next free row and makes it its own; in another it stores the
 * result and deletes the row. So several graders can work on one store, each on other keys. On a
 * server the selection skips rows that another grader is selecting at that moment (FOR UPDATE SKIP
 * LOCKED).
 *
 * A killed grader leaves claims. In a file, the next grader frees those whose owner process no
 * longer exists. On a server the owner may be on another machine, or in a container with process
 * ids of its own, so a claim is a lease: it is void LEASE_SECONDS after its owner last renewed it,
 * by the server's clock. A grader that was suspended for longer loses its leases; then two graders
 * compute the same result, and the first one counts. */
#include "common/clock.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/class/assignment_draw.h"
#include "grader/class/class.h"
#include "grader/class/parallel.h"
#include "grader/grade/provenance.h"
#include "grader/grade/result_serialize.h"
#include "grader/jail/jail.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A grader renews its leases four times in that time. NO_EXPIRY_SECONDS stands for never. */
enum { LEASE_SECONDS = 60, NO_EXPIRY_SECONDS = 2000000000 };

struct slot {
    const struct exercise *ex;
    char key[HASH_HEX_SIZE], digest[HASH_HEX_SIZE], file[256];
    struct buf source;
    double start_seconds;
};

struct grading_ctx {
    struct store *s;
    const struct class_grade_options *g;
    struct grade_options worker_options; /* for each process */
    struct slot *slots;
    long long last_todo_row; /* the last row of `todo` that was claimed */
    char owner[128];
    double next_renewal_seconds;
    struct class_progress progress;
    double start_seconds;
};

/* ---- keys of results ---- */

/* Returns the book's digest of an exercise; it is computed once. */
static const char *book_digest_of(const struct exercise *ex) {
    static struct cached_digest {
        const struct exercise *ex;
        char digest[HASH_HEX_SIZE];
    } * cache;
    static unsigned n;
    for (unsigned i = 0; i < n; i++)
        if (cache[i].ex == ex) return cache[i].digest;
    if (!cache) cache = xcalloc(book_count(), sizeof *cache);
    cache[n].ex = ex;
    grade_book_digest(ex, cache[n].digest);
    return cache[n++].digest;
}

void class_result_key(const struct exercise *ex, const char *digest, const struct grade_options *o,
                      char key[HASH_HEX_SIZE]) {
    struct hash h;
    char policy_digest[HASH_HEX_SIZE];
    hash_init(&h);
    hash_update_string(&h, "result 1");
    hash_update_string(&h, digest), hash_update_string(&h, book_id(ex)),
        hash_update_string(&h, o->seed), hash_update_string(&h, o->device->name);
    hash_update_string(&h, grade_build_digest()), hash_update_string(&h, grade_nvcc_version()),
        hash_update_string(&h, book_digest_of(ex));
    hash_update_string(&h, o->count_modelled ? "counted" : "");
    grade_policy_digest(o->policy, policy_digest);
    if (policy_digest[0]) hash_update_string(&h, policy_digest);
    hash_final_hex(&h, key);
}

const struct grading_policy *class_policy(const struct assignment *a, const struct exercise *ex) {
    const struct assignment_part *p = a ? assignment_find_part(a, ex) : NULL;
    return p ? &p->policy : NULL;
}

static const struct exercise *exercise_of(const char *id) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_id(book_at(i)), id)) return book_at(i);
    return NULL;
}

/* ---- the list ---- */

static bool add_todo(struct grading_ctx *m, long long n, const char *exercise, const char *digest,
                     struct err *e) {
    const struct exercise *ex = exercise_of(exercise);
    char key[HASH_HEX_SIZE];
    if (!ex) return true; /* an exercise of another book: its results stay unchanged */
    if (m->g->only_exercise && m->g->only_exercise != ex) return true;
    if (m->g->assignment && !assignment_find_part(m->g->assignment, ex)) return true;
    struct grade_options o = m->g->grade;
    o.policy = class_policy(m->g->assignment, ex);
    class_result_key(ex, digest, &o, key);
    if (m->g->shard_count && !m->g->check_others &&
        strtoul((char[9]){key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7], 0}, NULL,
                16) %
                m->g->shard_count !=
            m->g->shard_index)
        return true;
    return store_exec(m->s, e, "INSERT INTO todo VALUES (?, ?, ?, ?)", "lttt", n, exercise, digest,
                      key);
}

/* A student without a drawn variant, or an exercise without variants, has number 0. */
static const char own_submissions_sql[] =
    "SELECT s.n, s.exercise, s.digest FROM submission s JOIN student t ON t.id = s.student LEFT "
    "JOIN assigned a ON a.exercise = s.exercise WHERE s.state = 'taken' AND CASE WHEN a.varied = 1 "
    "THEN t.variant ELSE 0 END = ?";
/* A shard has all results of its own submissions, so it checks these whatever their new keys. */
static const char others_failures_sql[] =
    "SELECT min(s.n), s.exercise, s.digest FROM submission s JOIN student t ON t.id = s.student "
    "JOIN assigned a ON a.exercise = s.exercise JOIN result r ON r.key = s.key WHERE s.state = "
    "'taken' AND a.varied = 1 AND t.variant <> ? AND r.verdict IN " ASSIGNMENT_DRAW_FAILURES
    " GROUP BY s.exercise, s.digest";

static bool add_all_todos(struct grading_ctx *m, struct err *e) {
    struct store_rows *q =
        store_query(m->s, e, m->g->check_others ? others_failures_sql : own_submissions_sql, "l",
                    (long long)m->g->variant);
    bool ok = q;
    while (ok && store_step(m->s, &q, e))
        ok = add_todo(m, store_column_int64(q, 0), store_column_text(q, 1), store_column_text(q, 2),
                      e);
    store_finalize(&q);
    return ok && !e->text[0];
}

/* Notes which result says whether a submission solves this variant. */
static bool save_checks(struct grading_ctx *m, struct err *e) {
    return store_exec(m->s, e,
                      "INSERT INTO variant_check (key, variant, other_key) SELECT DISTINCT s.key, "
                      "CAST(? AS BIGINT), d.key FROM todo d JOIN submission s ON s.exercise = "
                      "d.exercise AND s.digest = d.digest JOIN result r ON r.key = s.key WHERE "
                      "s.key <> d.key AND r.verdict IN " ASSIGNMENT_DRAW_FAILURES
                      " ON CONFLICT (key, variant) DO UPDATE SET other_key = excluded.other_key",
                      "l", (long long)m->g->variant);
}

static bool build_todo_list(struct grading_ctx *m, struct err *e) {
    bool ok =
        store_exec(m->s, e, "DROP TABLE IF EXISTS todo", "") &&
        store_exec(m->s, e,
                   "CREATE TEMP TABLE todo (n BIGINT PRIMARY KEY, exercise TEXT, digest TEXT, "
                   "key TEXT)",
                   "") &&
        store_begin(m->s, e);
    if (!ok) return false;
    ok = add_all_todos(m, e);
    if (ok && !m->g->keep_gradebook && !m->g->check_others)
        ok = store_exec(
            m->s, e,
            "UPDATE submission SET key = (SELECT key FROM todo WHERE todo.n = submission.n)"
            " WHERE n IN (SELECT n FROM todo)",
            "");
    if (ok && m->g->check_others) ok = save_checks(m, e);
    /* Grade again what ended with our own error. */
    ok = ok && store_exec(
                   m->s, e,
                   "DELETE FROM result WHERE verdict = 'IE' AND key IN (SELECT key FROM todo)", "");
    return store_commit(m->s, ok, e);
}

static long long count_pending(struct grading_ctx *m, struct err *e) {
    return store_query_int(m->s, e,
                           "SELECT count(*) FROM todo WHERE key NOT IN (SELECT key FROM result)");
}

/* ---- claims ---- */

/* Sets `out` to a process's start time in clock ticks since boot, field 22 of /proc/PID/stat; ""
 * if there is no such process. */
static void process_start_ticks(long pid, char out[32]) {
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f) fclose(f);
    line[n] = 0, out[0] = 0;
    char *at = strrchr(line, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (at) sscanf(at, " %31s", out);
}

static void read_boot_id(char out[64]) {
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!f || fscanf(f, "%63s", out) != 1) strcpy(out, "?");
    if (f) fclose(f);
}

static void make_owner_id(char out[128]) {
    char boot[64], start_ticks[32];
    read_boot_id(boot), process_start_ticks(getpid(), start_ticks);
    snprintf(out, 128, "%s %d %s", boot, getpid(), start_ticks);
}

static bool is_owner_alive(const char *owner) {
    char boot[64], current_boot[64], start_ticks[32], current_start_ticks[32];
    long pid;
    if (sscanf(owner, "%63s %ld %31s", boot, &pid, start_ticks) != 3) return false;
    read_boot_id(current_boot), process_start_ticks(pid, current_start_ticks);
    return !strcmp(boot, current_boot) && !strcmp(start_ticks, current_start_ticks);
}

/* Frees the claims of graders that no longer exist. Those on a server expire by themselves. */
static bool free_stale_claims(struct grading_ctx *m, struct err *e) {
    if (m->s->db->driver->is_remote) return true;
    struct store_rows *q =
        store_query(m->s, e, "SELECT DISTINCT owner FROM claim WHERE owner <> ''", "");
    bool ok = q;
    while (ok && store_step(m->s, &q, e))
        if (!is_owner_alive(store_column_text(q, 0)))
            ok = store_exec(m->s, e, "UPDATE claim SET owner = '', expires = 0 WHERE owner = ?",
                            "t", store_column_text(q, 0));
    store_finalize(&q);
    return ok && !e->text[0];
}

/* Adds a free row for each key to grade, then deletes those that need no grading any more: another
 * grader may store a result at this moment, or was killed before it took a key. */
static bool add_claims(struct grading_ctx *m, struct err *e) {
    return store_exec(m->s, e,
                      "INSERT INTO claim (key, owner) SELECT DISTINCT key, '' FROM todo WHERE key "
                      "NOT IN (SELECT key FROM result) ON CONFLICT DO NOTHING",
                      "") &&
           store_exec(m->s, e,
                      "DELETE FROM claim WHERE key IN (SELECT key FROM result) OR (owner = '' AND "
                      "key NOT IN (SELECT key FROM submission WHERE key IS NOT NULL) AND key NOT "
                      "IN (SELECT key FROM todo))",
                      "");
}

static bool refresh_claims(struct grading_ctx *m, struct err *e) {
    return store_begin(m->s, e) &&
           store_commit(m->s, free_stale_claims(m, e) && add_claims(m, e), e);
}

/* Makes the row of a key this grader's. */
static bool set_claim(struct grading_ctx *m, const char *key, struct err *e) {
    char sql[256];
    const struct db_driver *driver = m->s->db->driver;
    snprintf(sql, sizeof sql, "UPDATE claim SET owner = ?, expires = %s + %d WHERE key = ?",
             driver->now, driver->is_remote ? LEASE_SECONDS : NO_EXPIRY_SECONDS);
    return store_exec(m->s, e, sql, "tt", m->owner, key);
}

/* Renews the claims of this grader, if it is time. */
static bool renew_claims(void *user, struct err *e) {
    struct grading_ctx *m = user;
    char sql[256];
    if (clock_seconds() < m->next_renewal_seconds) return true;
    m->next_renewal_seconds = clock_seconds() + LEASE_SECONDS / 4;
    snprintf(sql, sizeof sql, "UPDATE claim SET expires = %s + %d WHERE owner = ?",
             m->s->db->driver->now, LEASE_SECONDS);
    return store_exec(m->s, e, sql, "t", m->owner);
}

static bool fill_slot(struct slot *slot, struct store_rows *q) {
    slot->ex = exercise_of(store_column_text(q, 2));
    snprintf(slot->key, sizeof slot->key, "%s", store_column_text(q, 1));
    snprintf(slot->digest, sizeof slot->digest, "%s", store_column_text(q, 3));
    buf_clear(&slot->source);
    buf_add(&slot->source, store_column_bytes(q, 4), store_column_size(q, 4));
    slot->start_seconds = clock_seconds();
    return true;
}

/* Claims the next key of the list. Returns PARALLEL_END if none is left. */
static enum parallel_status claim_next(struct grading_ctx *m, struct slot *slot, struct err *e) {
    char sql[512];
    const struct db_driver *driver = m->s->db->driver;
    snprintf(sql, sizeof sql,
             "SELECT t.n, t.key, t.exercise, t.digest, s.body FROM todo t JOIN claim c ON c.key = "
             "t.key JOIN source s ON s.digest = t.digest WHERE t.n > ? AND c.expires < %s AND NOT "
             "EXISTS (SELECT 1 FROM result r WHERE r.key = t.key) ORDER BY t.n LIMIT 1%s",
             driver->now, driver->skip_locked);
    struct store_rows *q = store_query(m->s, e, sql, "l", m->last_todo_row);
    bool found = q && store_step(m->s, &q, e) && fill_slot(slot, q);
    if (found) m->last_todo_row = store_column_int64(q, 0);
    store_finalize(&q);
    if (e->text[0]) return PARALLEL_FAILED;
    if (!found) return PARALLEL_END;
    return set_claim(m, slot->key, e) ? PARALLEL_ITEM : PARALLEL_FAILED;
}

static enum parallel_status next_todo(void *user, unsigned i, struct err *e) {
    struct grading_ctx *m = user;
    if (!store_begin_shared(m->s, e)) return PARALLEL_FAILED;
    enum parallel_status a = claim_next(m, &m->slots[i], e);
    return store_commit(m->s, a != PARALLEL_FAILED, e) ? a : PARALLEL_FAILED;
}

/* ---- a result ---- */

static void grade_slot(void *user, unsigned i, struct buf *out) {
    struct grading_ctx *m = user;
    struct slot *slot = &m->slots[i];
    struct result r;
    char name[128];
    struct grade_options o = m->worker_options;
    o.policy = class_policy(m->g->assignment, slot->ex);
    grade_safe_file_name(slot->ex, slot->ex->name, name, sizeof name);
    grade_source(slot->ex, name, buf_str(&slot->source), slot->source.size, &o, &r);
    r.is_kept = false; /* the store holds the same bytes, however the result was found */
    result_serialize(&r, out);
}

static const char *arena_copy(struct result *r, const char *s) {
    return arena_strndup(&r->arena, s, strlen(s));
}

static void set_crash_result(struct result *r, const struct exercise *ex) {
    *r = (struct result){.ex = ex, .verdict = V_IE, .max_score = 100, .file = ""};
    r->id = arena_copy(r, book_id(ex));
    r->message = "the grader's process for this file died";
    r->speed.note = "";
}

/* Appends one line: the first failure, in the words of the student's report; without a failure, the
 * first reason for lost points. */
static void put_reason(const struct result *r, struct buf *out) {
    const char *message = r->message ? r->message : "";
    if (r->is_unmodified) buf_puts(out, "not started: this is the starter file");
    else if (!verdict_has_score(r->verdict) && *message)
        buf_add(out, message, strcspn(message, "\n"));
    else if (r->verdict != V_AC) report_first_failure(r, out);
    if (!out->size && r->npoints_lost) buf_puts(out, r->points_lost[0].reason);
}

static char *result_json(const struct result *r, const struct grading_ctx *m) {
    json_t *all = report_json(&r, 1, m->g->grade.device, m->g->grade.seed);
    char *text = json_dumps(json_array_get(json_object_get(all, "exercises"), 0),
                            JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(all);
    return text;
}

static bool insert_result(struct grading_ctx *m, const struct slot *slot, const struct result *r,
                          struct err *e) {
    struct buf reason = {0}, report = {0}, blob = {0};
    char date[32], policy_digest[HASH_HEX_SIZE], *json = result_json(r, m);
    const char *kind = r->speed.valid ? r->speed.kind : NULL;
    put_reason(r, &reason);
    report_text(r, m->g->grade.device, &(struct report_style){.width = 76},
                &report); /* 76 columns fit a printed page */
    grade_utc_date(date), class_serialize_result(r, &blob);
    grade_policy_digest(class_policy(m->g->assignment, slot->ex), policy_digest);
    bool ok = store_exec(
        m->s, e,
        "INSERT INTO result (key, exercise, digest, file, seed, device, grader, nvcc, "
        "book, counted, jail,"
        " graded_at, seconds, verdict, score, max_score, speed_kind, vs_solution, reason, report, "
        "json, terms, whole)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (key) DO NOTHING",
        "tttttttttlttftfftfttttb", slot->key, r->id, slot->digest, r->file, m->g->grade.seed,
        m->g->grade.device->name, grade_build_digest(), grade_nvcc_version(),
        book_digest_of(slot->ex), (long long)m->g->grade.count_modelled, jail_describe_tier(), date,
        clock_seconds() - slot->start_seconds, verdict_code(r->verdict),
        verdict_has_score(r->verdict) ? r->score : NAN, r->max_score, kind,
        r->speed.valid ? r->speed.vs_solution : NAN, buf_str(&reason), buf_str(&report), json,
        policy_digest, &blob);
    buf_free(&reason), buf_free(&report), buf_free(&blob), free(json);
    return ok;
}

/* Stores a result and ends its claim. If the lease was lost, another grader's result may be there
 * already; it stays, unless it is an IE. */
static bool store_result(struct grading_ctx *m, const struct slot *slot, const struct result *r,
                         struct err *e) {
    return store_exec(m->s, e, "DELETE FROM result WHERE key = ? AND verdict = 'IE'", "t",
                      slot->key) &&
           insert_result(m, slot, r, e) &&
           store_exec(m->s, e, "DELETE FROM claim WHERE key = ? AND owner = ?", "tt", slot->key,
                      m->owner);
}

static bool save_result(void *user, unsigned i, bool ok, const char *data, size_t size,
                        struct err *e) {
    struct grading_ctx *m = user;
    struct slot *slot = &m->slots[i];
    struct result r;
    if (!ok || !result_deserialize(&r, slot->ex, data, size)) set_crash_result(&r, slot->ex);
    bool committed =
        store_begin_shared(m->s, e) && store_commit(m->s, store_result(m, slot, &r, e), e);
    m->progress.graded++, m->progress.internal_error_count += r.verdict == V_IE;
    m->progress.seconds = clock_seconds() - m->start_seconds;
    if (m->g->progress) m->g->progress(m->g->user, &m->progress);
    result_free(&r);
    return committed;
}

/* ---- all of them ---- */

/* Grades all pending keys. Keys that another grader has claimed are its own, unless it dies: then
 * the next round claims them. */
static bool grade_todo_list(struct grading_ctx *m, unsigned jobs, struct err *e) {
    struct parallel_ops ops = {
        .next_item = next_todo, .run_item = grade_slot, .item_done = save_result, .user = m};
    if (m->s->db->driver->is_remote) ops.tick = renew_claims;
    for (;;) {
        m->last_todo_row = 0;
        if (!refresh_claims(m, e)) return false;
        if (!parallel_run(jobs, &ops, e)) return false;
        long long n = count_pending(m, e);
        if (n <= 0) return n == 0;
        if (m->g->progress) m->g->progress(m->g->user, &m->progress);
        sleep(1);
    }
}

bool class_grade(struct store *s, const struct class_grade_options *g, struct err *e) {
    struct grading_ctx m = {
        .s = s, .g = g, .worker_options = g->grade, .start_seconds = clock_seconds()};
    unsigned jobs = parallel_job_count(g->jobs);
    if (jobs > 1 && !m.worker_options.workers)
        m.worker_options.workers = 1; /* The processes already use all cores. */
    m.worker_options.progress = NULL, m.worker_options.prefetch_inputs &= jobs == 1;
    make_owner_id(m.owner);
    if (!build_todo_list(&m, e)) return false;
    long long n = count_pending(&m, e);
    m.progress.total = (unsigned)n;
    if (m.g->progress && n > 0) m.g->progress(m.g->user, &m.progress);
    m.slots = xcalloc(jobs, sizeof *m.slots);
    bool ok = n >= 0 && (n == 0 || grade_todo_list(&m, jobs, e));
    for (unsigned i = 0; i < jobs; i++) buf_free(&m.slots[i].source);
    free(m.slots);
    return ok;
}

bool class_load_seed(struct store *s, char seed[65], struct err *e) {
    struct store_rows *q = store_query(s, e, "SELECT value FROM setting WHERE name = 'seed'", "");
    seed[0] = 0;
    if (store_step(s, &q, e)) snprintf(seed, 65, "%s", store_column_text(q, 0));
    store_finalize(&q);
    return !e->text[0];
}

bool class_save_seed(struct store *s, const char *seed, struct err *e) {
    return store_exec(
        s, e,
        "INSERT INTO setting (name, value) VALUES ('seed', ?) ON CONFLICT (name) DO UPDATE "
        "SET value = excluded.value",
        "t", seed);
}

bool class_save_first_seed(struct store *s, const char *seed, struct err *e) {
    return store_exec(s, e,
                      "INSERT INTO setting (name, value) VALUES ('seed', ?) ON CONFLICT DO NOTHING",
                      "t", seed);
}
