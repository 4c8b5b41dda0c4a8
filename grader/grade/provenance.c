/* provenance.c — see provenance.h. It hashes contents, not times or places: a copy of the tree on
 * another machine is the same grader. */
#include "grader/grade/provenance.h"
#include "common/file.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/grade/compiler_jail.h"
#include "grader/sim/device.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PROGRAM_LIMIT = 512 << 20, SOURCE_BYTES = 1 << 20 };

/* The releases that passed `grader verify`, newest last; "13.0" covers all of 13.0. */
static const char *const verified_releases[] = {"13.0"};

static void hash_file(struct hash *h, const char *path, size_t limit) {
    struct buf data = {0};
    struct err e = {0};
    hash_update_string(h, file_read(path, limit, &data, &e) ? "there" : "none");
    hash_update(h, buf_str(&data), data.size);
    buf_free(&data);
}

const char *grade_build_digest(void) {
    static const char *const programs[] = {"device", "hostproc", "trim_headers", "libwbcudart.a"};
    static char id[HASH_HEX_SIZE];
    struct hash h;
    char path[PATH_MAX];
    if (id[0]) return id;
    hash_init(&h);
    hash_file(&h, "/proc/self/exe", PROGRAM_LIMIT);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        hash_file(&h, paths_component(programs[i], path), PROGRAM_LIMIT);
    hash_final_hex(&h, id);
    return id;
}

/* Sets `out` to the version in the ", V13.0.88" that an NVIDIA tool prints. */
static void query_version(const char *tool, char *out, size_t size) {
    char command[PATH_MAX + 64], line[512];
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", tool);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, ", V");
        if (at) snprintf(out, size, "%.*s", (int)strcspn(at + 3, " \n"), at + 3);
    }
    if (f) pclose(f);
}

const char *grade_nvcc_version(void) {
    static char version[128];
    char compiler[32] = "", disassembler[32] = "", tool[PATH_MAX], toolkit[PATH_MAX];
    struct err ignored = {0};
    if (version[0]) return version;
    if (paths_cuda_toolkit(toolkit, &ignored) && path_join(tool, sizeof tool, toolkit, "bin/nvcc"))
        query_version(tool, compiler, sizeof compiler);
    if (compiler[0] && build_disassembler(tool))
        query_version(tool, disassembler, sizeof disassembler);
    snprintf(version, sizeof version, "%s%s%s", compiler[0] ? compiler : "none",
             disassembler[0] ? ", nvdisasm " : "", disassembler);
    return version;
}

bool grade_is_nvcc_verified(const char **releases) {
    *releases = verified_releases[sizeof verified_releases / sizeof *verified_releases - 1];
    for (unsigned i = 0; i < sizeof verified_releases / sizeof *verified_releases; i++) {
        size_t n = strlen(verified_releases[i]);
        if (!strncmp(grade_nvcc_version(), verified_releases[i], n) &&
            (!grade_nvcc_version()[n] || grade_nvcc_version()[n] == '.'))
            return true;
    }
    return !strcmp(grade_nvcc_version(), "none"); /* no compiler: results come from the cache */
}

void grade_book_digest(const struct exercise *ex, char out[HASH_HEX_SIZE]) {
    struct hash h;
    struct buf starter = {0};
    struct err e = {0};
    hash_init(&h);
    hash_update_string(&h, book_id(ex));
    hash_file(&h, book_solution_file(ex, NULL), SOURCE_BYTES);
    if (ex->baseline) hash_file(&h, book_solution_file(ex, ex->baseline), SOURCE_BYTES);
    if (book_original_starter(ex, &starter, &e)) hash_update(&h, buf_str(&starter), starter.size);
    buf_free(&starter);
    hash_final_hex(&h, out);
}

void grade_policy_digest(const struct grading_policy *t, char out[HASH_HEX_SIZE]) {
    struct hash h;
    char points[32];
    out[0] = 0;
    if (!t || (!t->nhidden && !(t->case_points > 0))) return;
    hash_init(&h);
    snprintf(points, sizeof points, "%.17g", t->case_points);
    hash_update_string(&h, points);
    for (unsigned i = 0; i < t->nhidden; i++) {
        hash_update(&h, t->hidden_cases[i].dim, sizeof t->hidden_cases[i].dim);
        hash_update(&h, &t->hidden_cases[i].variant, sizeof t->hidden_cases[i].variant),
            hash_update_string(&h, t->hidden_cases[i].label);
    }
    hash_final_hex(&h, out);
}

void grade_utc_date(char out[32]) {
    time_t now = time(NULL);
    struct tm t;
    gmtime_r(&now, &t);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &t);
}

const struct gpu_device *grade_simulated_device(const char *device) { return device_find(device); }

const char *grade_backend(const char *device) { return device_find(device) ? "sim" : "gpu"; }
