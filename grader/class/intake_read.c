/* intake_read.c — see intake_read.h. A worker process reads a few students and returns them as
 * bytes: the lengths and contents of each field, in the machine's own format. */
#include "grader/class/intake_read.h"
#include "common/grow.h"
#include "grader/class/match_files.h"
#include "grader/class/parallel.h"
#include "grader/grade/grade.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one student ---- */

static void read_entry_at(int dir_fd, const struct plan_entry *en, struct intake *in) {
    struct err e = {0};
    struct buf data = {0};
    int fd = -1;
    if (en->reason) intake_reject(in, en->name, en->needs_review, en->reason);
    else if (en->kind == PLAN_KIND_FOLDER) {
        fd = openat(dir_fd, en->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) intake_reject(in, en->name, true, "a folder that cannot be read");
        else intake_folder(fd, intake_accept_source, NULL, in);
        if (match_has_several_students(in))
            intake_free(in), intake_reject(in, en->name, true,
                                           "a whole class: name this folder, not the one above");
    } else {
        size_t limit = en->kind == PLAN_KIND_ARCHIVE ? INTAKE_MAX_ARCHIVE_BYTES : SOURCE_LIMIT;
        fd = intake_openat_beneath(dir_fd, en->name, limit);
        if (fd < 0)
            intake_reject(in, en->name, true,
                          en->kind == PLAN_KIND_ARCHIVE
                              ? "it cannot be read, or is larger than 32 MiB"
                              : "it cannot be read, or is larger than 1 MiB");
        else if (en->kind == PLAN_KIND_ARCHIVE &&
                 !intake_archive(fd, intake_accept_source, NULL, in, &e))
            intake_reject(in, en->name, true, e.text);
        else if (en->kind == PLAN_KIND_ARCHIVE && match_has_several_students(in))
            intake_free(in), intake_reject(in, en->name, true,
                                           "a whole class: unpack it into a folder, and name that");
        else if (en->kind == PLAN_KIND_SOURCE && intake_read_fd(fd, SOURCE_LIMIT, &data))
            intake_add(in, en->file, buf_str(&data), data.size);
    }
    if (fd >= 0) close(fd);
    buf_free(&data);
}

static void read_entry(const struct plan_entry *en, struct intake *in) {
    int dir_fd = open(en->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) intake_reject(in, en->name, true, "its folder cannot be read");
    else read_entry_at(dir_fd, en, in), close(dir_fd);
}

/* Adds the files of an entry, with the version of its name. */
static void add_entry(const struct plan_entry *en, struct intake *in) {
    struct intake files = {0};
    read_entry(en, &files);
    for (unsigned i = 0; i < files.n; i++) files.files[i].version = en->version;
    intake_move(in, &files, "");
}

void intake_read_student(const struct plan *p, unsigned student, const struct plan_pair *pairs,
                         unsigned n, struct intake *in) {
    const struct plan_student *st = &p->students[student];
    if (st->review_reason) intake_reject(in, "", true, st->review_reason);
    for (unsigned i = 0; i < n && !st->review_reason; i++)
        add_entry(&p->entries[pairs[i].entry], in);
}

/* ---- intakes as bytes ---- */

static void put_number(struct buf *out, size_t n) { buf_add(out, &n, sizeof n); }

static void put_bytes(struct buf *out, const void *data, size_t n) {
    put_number(out, n), buf_add(out, data, n);
}

static void put_intake(struct buf *out, const struct intake *in) {
    put_number(out, in->n), put_number(out, in->nrejections);
    put_number(out, in->other_file_count), put_number(out, in->needs_review);
    for (unsigned i = 0; i < in->n; i++) {
        const struct intake_file *f = &in->files[i];
        put_bytes(out, f->path, strlen(f->path)), put_bytes(out, buf_str(&f->data), f->data.size);
        buf_add(out, &f->version, sizeof f->version);
    }
    for (unsigned i = 0; i < in->nrejections; i++) {
        const struct intake_rejection *r = &in->rejections[i];
        put_bytes(out, r->path, strlen(r->path)), put_bytes(out, r->reason, strlen(r->reason));
        put_number(out, r->needs_review);
    }
}

/* The worker is a process of ours, so its bytes need no checks beyond its exit status. */
static void get(const char **at, void *out, size_t n) { memcpy(out, *at, n), *at += n; }

static size_t get_number(const char **at) {
    size_t n;
    get(at, &n, sizeof n);
    return n;
}

static char *get_text(const char **at) {
    size_t n = get_number(at);
    char *text = xmalloc(n + 1);
    get(at, text, n), text[n] = 0;
    return text;
}

static void get_file(const char **at, struct intake_file *f) {
    *f = (struct intake_file){.path = get_text(at)};
    size_t n = get_number(at);
    buf_add(&f->data, *at, n), *at += n;
    get(at, &f->version, sizeof f->version);
}

static void get_intake(const char **at, struct intake *in) {
    in->n = (unsigned)get_number(at), in->nrejections = (unsigned)get_number(at);
    in->other_file_count = (unsigned)get_number(at), in->needs_review = get_number(at);
    GROW(in->files, in->n, in->capacity, 8);
    for (unsigned i = 0; i < in->n; i++) get_file(at, &in->files[i]);
    GROW(in->rejections, in->nrejections, in->rejections_capacity, 8);
    for (unsigned i = 0; i < in->nrejections; i++) {
        struct intake_rejection *r = &in->rejections[i];
        r->path = get_text(at), r->reason = get_text(at), r->needs_review = get_number(at);
    }
}

/* ---- a group ---- */

enum { STUDENTS_PER_WORKER = 8, MAX_WORKER_BYTES = 2 << 20, WORKERS_PER_CORE = 4 };

struct reader {
    struct intake_group *g;
    unsigned next;                              /* the next student without a worker */
    unsigned slot_first[INTAKE_GROUP_STUDENTS]; /* the first student of each slot's worker */
};

static unsigned end_of(const struct reader *r, unsigned first) {
    return first + STUDENTS_PER_WORKER < r->g->n ? first + STUDENTS_PER_WORKER : r->g->n;
}

static enum parallel_status next_students(void *user, unsigned slot, struct err *e) {
    struct reader *r = user;
    (void)e;
    if (r->next >= r->g->n) return PARALLEL_END;
    r->slot_first[slot] = r->next, r->next = end_of(r, r->next);
    return PARALLEL_ITEM;
}

/* Writes a 1 and the intake for each student, or a 0 for one whose data exceeds the limit. */
static void read_students(void *user, unsigned slot, struct buf *out) {
    const struct reader *r = user;
    const struct intake_group *g = r->g;
    for (unsigned i = r->slot_first[slot], end = end_of(r, i); i < end; i++) {
        struct intake in = {0};
        size_t before = out->size;
        intake_read_student(g->plan, g->first_student + i, g->plan->pairs + g->first_pair[i],
                            g->first_pair[i + 1] - g->first_pair[i], &in);
        put_number(out, 1), put_intake(out, &in);
        if (out->size > MAX_WORKER_BYTES) out->size = before, put_number(out, 0);
        intake_free(&in);
    }
}

/* Students of a worker that died stay unread. */
static bool take_students(void *user, unsigned slot, bool ok, const char *data, size_t size,
                          struct err *e) {
    const struct reader *r = user;
    struct intake_group *g = r->g;
    (void)size, (void)e;
    for (unsigned i = r->slot_first[slot], end = end_of(r, i); ok && i < end; i++) {
        g->is_read[i] = get_number(&data);
        if (g->is_read[i]) get_intake(&data, &g->intakes[i]);
    }
    return true;
}

bool intake_read_group(struct intake_group *g, const struct plan *p, unsigned first_student,
                       unsigned first_pair, struct err *e) {
    *g = (struct intake_group){.plan = p, .first_student = first_student};
    g->first_pair[0] = first_pair;
    for (unsigned at = first_pair;
         g->n < INTAKE_GROUP_STUDENTS && first_student + g->n < p->nstudents;
         g->first_pair[++g->n] = at)
        while (at < p->npairs && p->pairs[at].student == first_student + g->n) at++;
    struct reader r = {.g = g};
    unsigned jobs = WORKERS_PER_CORE * parallel_job_count(0);
    if (jobs > INTAKE_GROUP_STUDENTS) jobs = INTAKE_GROUP_STUDENTS;
    return parallel_run(
        jobs, &(struct parallel_ops){next_students, read_students, take_students, &r, NULL}, e);
}

void intake_free_group(struct intake_group *g) {
    for (unsigned i = 0; i < g->n; i++) intake_free(&g->intakes[i]);
    g->n = 0;
}
