/* host_header.c — see host_header.h.
 *
 * The file cudafe++ writes has 36 000 lines of headers before the student's first line, and gcc
 * needs two thirds of its time for them. cuda_runtime.h is the first that nvcc includes, so these
 * lines are the same for each file. A file without content shows them: its declaration is at line
 * 7, and all before that line is the header.
 *
 * gcc takes a precompiled header only if version and options agree (-Werror=invalid-pch), and
 * nvcc_phases_script uses it only if the student's file begins with its exact text. Otherwise, or
 * if gcc fails, the step runs as nvcc lists it. The object has the same code and lines; only the
 * four functions of nvcc's that are no one's source lie in another file.
 *
 * nvcc's list of steps (--dryrun) is the same for each file but for its name. nvcc runs gcc to
 * make it, so a kept list saves a tenth of the build.
 *
 * The linker needs two thirds of its time to read the 6000 symbols of libstdc++, of which most
 * files require the four that nvcc's own code does. A stub library has these four, with the name
 * and versions of libstdc++. A file that requires others has undefined symbols then, and is linked
 * as nvcc lists it. The loader takes the real library in both cases.
 *
 * Making it costs several times what a build saves, so the second build with an empty cache makes
 * it: a container that grades one submission never does.
 *
 * The cache keeps the files with a digest behind them, which gcc ignores and the script cuts
 * off. The files are bound into the sandbox, not read: a digest of 20 MB would cost more than the
 * header saves. If another grader has evicted one since, the sandbox has no header. */
#include "grader/grade/host_header.h"
#include "common/buf.h"
#include "common/cache.h"
#include "grader/grade/compiler_jail.h"
#include "grader/grade/nvcc_phases.h"

#include <stdio.h>
#include <string.h>

const char host_header_source[] = "warpbook-source.cu";
static const char source[] = "\n\n\n\n\n\nint end_of_headers;\n";

/* Follows nvcc_phases_script, which leaves the step of gcc in $host. */
static const char make_header[] =
    "[ \"$host\" ] || exit\n"
    "line=$(grep -n '^# 7 \"warpbook-source.cu\"' warpbook-source.cudafe1.cpp | head -n 1); "
    "line=${line%%:*}\n"
    "[ \"$line\" ] || exit\n"
    "sed -n \"2,$((line - 1))p\" warpbook-source.cudafe1.cpp >host-header\n"
    "options=${host#gcc*' -c -x c++ '}; options=${options%%'\"warpbook-source.cudafe1.cpp\"'*}\n"
    "eval \"${host%%' -c -x c++ '*} -x c++-header $options host-header -o host-header.gch\"\n"
    "for name in __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort "
    "__gxx_personality_v0; do echo \"void $name(void) {}\"; done >stub.c\n"
    "echo 'CXXABI_1.3 { global: *; };' >stub.map\n"
    /* Keeps a pass's preprocessed headers and their macros: $1 names the pass, $2 is the step. All
     * that opens and closes within cuda_runtime.h stays, so that its lines keep their file. */
    "keep_headers() {\n"
    "  output=${2##*' -o \"'}; output=${output%%'\"'*}\n"
    "  eval \"$2\" && sed '/^# 1 \"warpbook-source.cu\"$/,$d' \"$output\" >$1.ii || return\n"
    "  eval \"${2%%' -E '*} -E -dD ${2#*' -E '}\" || return\n"
    "  sed '1,/^# 1 \".*cuda_runtime.h\" 1$/d; /^# 0 \"<command-line>\" 2$/,$d; /^#/!d' "
    "\"$output\" >$1.macros\n"
    "}\n"
    /* Reading the macros alone is wrong for headers that count, or of which gcc notes that it has
     * read them. */
    "keep_headers host \"$step1\" && keep_headers device \"$step3\" || exit\n"
    "sed -n 's/^# [0-9]* \"\\(\\/.*\\)\".*/\\1/p' host.ii device.ii | sort -u | xargs "
    "grep -l '^ *# *pragma once\\|__COUNTER__' 2>/dev/null && exit 1\n"
    "eval \"${host%% *} -shared -fPIC -nostdlib stub.c -Wl,-soname,libstdc++.so.6 "
    "-Wl,--version-script=stub.map -o libstdc++.so\"\n";

char *host_header_script(void) {
    struct buf text = {0};
    buf_printf(&text, "%s%s", nvcc_phases_script, make_header);
    return text.data;
}

/* The job's output, its kind in the cache, and its place in the sandbox of a build. */
static const struct {
    const char *output, *kind, *place;
} files[HOST_HEADER_FILES] = {{"steps.list", "steps", "/host-header/steps"},
                              {"host-header", "header", "/host-header/text"},
                              {"host-header.gch", "pch", "/host-header/host-header.gch"},
                              {"libstdc++.so", "stub", "/host-header/libstdc++.so"},
                              {"host.ii", "host-headers", "/host-header/host.ii"},
                              {"host.macros", "host-macros", "/host-header/host.macros"},
                              {"device.ii", "device-headers", "/host-header/device.ii"},
                              {"device.macros", "device-macros", "/host-header/device.macros"}};

/* Kinds of empty entries: these compilers have built a file; they make no header. */
#define HAS_BUILT "header-wanted"
#define NO_HEADER "no-header"
enum { MIN_CACHE_BYTES = 64 << 20 }; /* a smaller cache would drop the header at once */

static bool find_header(struct host_header *h, const char key[HASH_HEX_SIZE]) {
    for (unsigned i = 0; i < HOST_HEADER_FILES; i++) {
        if (!cache_find(files[i].kind, key, h->paths[i])) return false;
        h->binds[i] = (struct jail_bind){h->paths[i], files[i].place, true};
    }
    h->nbinds = HOST_HEADER_FILES;
    return true;
}

static bool make(const char key[HASH_HEX_SIZE], const struct jail_job *options) {
    const struct jail_file file = {host_header_source, source, sizeof source - 1};
    struct jail_job job = *options;
    struct jail_result r;
    struct err ignored = {0};
    job.files = &file, job.nfiles = 1;
    memset(job.out_files, 0, sizeof job.out_files);
    for (unsigned i = 0; i < HOST_HEADER_FILES; i++) job.out_files[i] = files[i].output;
    struct jail *j = jail_start(&job, &ignored);
    if (!j) return false;
    jail_wait(j, BUILD_WALL_SECONDS, &r);
    bool ok = r.outcome == JAIL_EXITED && r.code == 0;
    for (unsigned i = 0; i < HOST_HEADER_FILES; i++) ok &= r.has_out_file[i];
    for (unsigned i = 0; ok && i < HOST_HEADER_FILES; i++)
        cache_put(files[i].kind, key, r.out_files[i].data, r.out_files[i].size);
    if (!ok && r.outcome == JAIL_EXITED) cache_put(NO_HEADER, key, "", 0);
    jail_result_free(&r);
    return ok;
}

void host_header_prepare(struct host_header *h, const char key[HASH_HEX_SIZE],
                         const struct jail_job *job) {
    char ignored[PATH_MAX];
    h->nbinds = 0;
    if (find_header(h, key) || cache_limit() < MIN_CACHE_BYTES ||
        cache_find(NO_HEADER, key, ignored))
        return;
    if (!cache_find(HAS_BUILT, key, ignored)) cache_put(HAS_BUILT, key, "", 0);
    else if (make(key, job)) find_header(h, key);
}
