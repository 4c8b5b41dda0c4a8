/* provenance.c — see provenance.h. Contents are hashed, not times or places: a copy of the tree on
 * another machine is the same grader. */
#include "grader/grade/provenance.h"
#include "common/file.h"
#include "common/where.h"
#include "grader/book/book.h"
#include "grader/grade/toolbox.h"
#include "grader/sim/device.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PROGRAM_LIMIT = 512 << 20, SOURCE_BYTES = 1 << 20 };

/* The releases that `grader verify` passed with, newest last: "13.0" stands for all of 13.0. */
static const char *const verified[] = {"13.0"};

static void add_file(struct hash *h, const char *path, size_t limit) {
    struct buf data = {0};
    struct err e = {0};
    hash_text(h, file_read(path, limit, &data, &e) ? "there" : "none");
    hash_add(h, buf_str(&data), data.size);
    buf_free(&data);
}

const char *grade_build(void) {
    static const char *const programs[] = {"device", "hostproc", "libwbcudart.a"};
    static char id[HASH_HEX];
    struct hash h;
    char path[PATH_MAX];
    if (id[0]) return id;
    hash_start(&h);
    add_file(&h, "/proc/self/exe", PROGRAM_LIMIT);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        add_file(&h, where_part(programs[i], path), PROGRAM_LIMIT);
    hash_hex(&h, id);
    return id;
}

/* ", V13.0.88" in what a tool of NVIDIA's says of itself. */
static void ask_version(const char *tool, char *out, size_t size) {
    char command[PATH_MAX + 64], line[512];
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null", tool);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, ", V");
        if (at) snprintf(out, size, "%.*s", (int)strcspn(at + 3, " \n"), at + 3);
    }
    if (f) pclose(f);
}

const char *grade_nvcc(void) {
    static char version[128];
    char compiler[32] = "", disassembler[32] = "", tool[PATH_MAX], toolkit[PATH_MAX];
    struct err ignored = {0};
    if (version[0]) return version;
    if (where_toolkit(toolkit, &ignored) && path_join(tool, sizeof tool, toolkit, "bin/nvcc"))
        ask_version(tool, compiler, sizeof compiler);
    if (compiler[0] && build_disassembler(tool))
        ask_version(tool, disassembler, sizeof disassembler);
    snprintf(version, sizeof version, "%s%s%s", compiler[0] ? compiler : "none",
             disassembler[0] ? ", nvdisasm " : "", disassembler);
    return version;
}

bool grade_nvcc_verified(const char **with) {
    *with = verified[sizeof verified / sizeof *verified - 1];
    for (unsigned i = 0; i < sizeof verified / sizeof *verified; i++) {
        size_t n = strlen(verified[i]);
        if (!strncmp(grade_nvcc(), verified[i], n) && (!grade_nvcc()[n] || grade_nvcc()[n] == '.'))
            return true;
    }
    return !strcmp(grade_nvcc(), "none"); /* results from a cache: nothing is compiled */
}

void grade_book(const struct exercise *ex, char out[HASH_HEX]) {
    struct hash h;
    struct buf skeleton = {0};
    struct err e = {0};
    hash_start(&h);
    hash_text(&h, book_id(ex));
    add_file(&h, book_solution_file(ex, NULL), SOURCE_BYTES);
    if (ex->baseline) add_file(&h, book_solution_file(ex, ex->baseline), SOURCE_BYTES);
    if (book_pristine(ex, &skeleton, &e)) hash_add(&h, buf_str(&skeleton), skeleton.size);
    buf_free(&skeleton);
    hash_hex(&h, out);
}

void grade_date(char out[32]) {
    time_t now = time(NULL);
    struct tm t;
    gmtime_r(&now, &t);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &t);
}

const struct gpu_device *grade_simulated(const char *device) { return device_find(device); }

const char *grade_backend(const char *device) { return device_find(device) ? "sim" : "gpu"; }
