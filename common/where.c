/* where.c — see where.h. What is installed is known by share/warpbook/installed beside bin/: no
 * path is compiled in, so that an installation can be moved, and one build serves both ways. */
#include "common/where.h"
#include "common/file.h"
#include "common/text.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char own[PATH_MAX], book[PATH_MAX], work[PATH_MAX], id[WHERE_ID];
static char foreign[PATH_MAX];  /* another user's folder of a student, in which we are, or "" */
static char recorded[PATH_MAX]; /* the toolkit that the installation names, or "" */
static bool opened, installed;

bool where_installed(void) { return installed; }
const char *where_book(void) { return book; }
const char *where_work(void) { return work; }
const char *where_build(void) { return own; }
bool where_begun(void) { return id[0]; }

static bool has(const char *folder, const char *name) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, folder, name) && file_exists(path);
}

/* To the folder above; false: there is none. */
static bool up(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = 0;
    return true;
}

/* ---- the programs and the book ---- */

static bool find_own(struct err *e) {
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n < 0) return err_set(e, ERR_SYSTEM, "/proc/self/exe: cannot read: is /proc mounted?");
    own[n] = 0;
    up(own);
    if (text_ends(own, "/tests")) up(own); /* build/tests/unit */
    return true;
}

/* The file that the installation left: lines "KEY VALUE". */
static void read_installed(const char *path) {
    struct buf text = {0};
    struct err ignored = {0};
    char *rest = NULL;
    if (!file_read(path, 1 << 16, &text, &ignored)) return;
    for (char *l = strtok_r(text.data, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
        if (text_starts(l, "toolkit /")) snprintf(recorded, sizeof recorded, "%s", l + 8);
    buf_free(&text);
}

static bool find_installed(void) {
    char prefix[PATH_MAX], path[PATH_MAX];
    snprintf(prefix, sizeof prefix, "%s", own);
    if (!up(prefix)) prefix[0] = 0; /* /bin */
    if (!path_join(book, sizeof book, prefix, "share/warpbook") ||
        !path_join(path, sizeof path, book, "installed") || !file_exists(path))
        return false;
    read_installed(path);
    return installed = true;
}

/* The folder above `from` (or itself) that has both chapters/ and Makefile. */
static bool climb(const char *from) {
    snprintf(book, sizeof book, "%s", from);
    do
        if (has(book, "chapters") && has(book, "Makefile")) return true;
    while (up(book));
    return book[0] = 0, false;
}

/* ---- the student's folder ---- */

bool where_mark_id(const char *text, char out[WHERE_ID]) {
    static const char head[] = "warpbook 1 ";
    if (!text_starts(text, head)) return false;
    text += sizeof head - 1;
    if (strspn(text, "0123456789abcdef") != WHERE_ID - 1 || text[WHERE_ID - 1] != '\n')
        return false;
    memcpy(out, text, WHERE_ID - 1);
    return out[WHERE_ID - 1] = 0, true;
}

/* Another user's folder is passed by: its links could have us write where they lead. */
static bool is_begun(const char *folder) {
    char path[PATH_MAX];
    struct stat st;
    struct buf text = {0};
    struct err ignored = {0};
    if (!path_join(path, sizeof path, folder, WHERE_MARK) || lstat(path, &st) < 0) return false;
    bool ours = st.st_uid == geteuid();
    if (!ours && !foreign[0]) snprintf(foreign, sizeof foreign, "%s", folder);
    bool ok =
        ours && file_read(path, 16 << 20, &text, &ignored) && where_mark_id(buf_str(&text), id);
    buf_free(&text);
    return ok;
}

static void find_work(void) {
    bool found = false;
    if (getcwd(work, sizeof work)) do
            found = is_begun(work);
        while (!found && up(work));
    if (!found) snprintf(work, sizeof work, "%s", installed ? "" : book);
}

bool where_need_work(struct err *e) {
    if (work[0]) return true;
    if (foreign[0])
        return err_set(e, ERR_INPUT,
                       "%.500s belongs to another user: work there as that user, or make a folder "
                       "of your own: `grader "
                       "begin DIR`",
                       foreign);
    return err_set(e, ERR_INPUT,
                   "no folder of yours to work in here or above: `grader begin DIR` makes one; "
                   "then cd into it");
}

bool where_open(struct err *e) {
    char cwd[PATH_MAX];
    if (opened) return true;
    if (!find_own(e)) return false;
    if (!find_installed() && !climb(own) && !(getcwd(cwd, sizeof cwd) && climb(cwd)))
        return err_set(e, ERR_INPUT,
                       "no folder with chapters/ and a Makefile above %s or the current folder",
                       own);
    find_work();
    return opened = true;
}

/* ---- folders to write to ---- */

/* $VARIABLE where it is an absolute path, else FALLBACK in the home folder; the XDG base directory
 * specification. */
static bool base_folder(const char *variable, const char *fallback, char out[PATH_MAX],
                        struct err *e) {
    const char *told = getenv(variable), *home = getenv("HOME");
    const struct passwd *user = home && *home ? NULL : getpwuid(geteuid());
    if (user) home = user->pw_dir;
    bool ok = told && *told == '/'
                  ? snprintf(out, PATH_MAX, "%s/warpbook", told) < PATH_MAX
                  : home && snprintf(out, PATH_MAX, "%s/%s/warpbook", home, fallback) < PATH_MAX;
    return ok ||
           err_set(e, ERR_INPUT,
                   "there is no home folder: set %s to a folder that you may write to", variable);
}

/* Makes it, for this user alone. What another user could write there, or has written, is not used.
 */
static bool own_folder(const char *path, const char *variable, struct err *e) {
    struct err inner = {0};
    struct stat st;
    char above[PATH_MAX];
    snprintf(above, sizeof above, "%s", path);
    up(above);
    if (!dir_make(above, &inner) || (mkdir(path, 0700) < 0 && errno != EEXIST) ||
        lstat(path, &st) < 0)
        return err_set(e, ERR_SYSTEM, "%s: %s; set %s to a folder that you may write to", path,
                       inner.text[0] ? inner.text : strerror(errno), variable);
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022)) return true;
    return err_set(e, ERR_INPUT,
                   "%s is not yours alone, so that what lies there cannot be trusted; set %s to a "
                   "folder of your own",
                   path, variable);
}

static bool personal(const char *variable, const char *fallback, char out[PATH_MAX],
                     struct err *e) {
    return base_folder(variable, fallback, out, e) && own_folder(out, variable, e);
}

static bool below(const char *folder, const char *name, char out[PATH_MAX], struct err *e) {
    char base[PATH_MAX];
    snprintf(base, sizeof base, "%s", folder);
    return path_join(out, PATH_MAX, base, name) || err_set(e, ERR_INPUT, "%s: path too long", base);
}

bool where_state(char out[PATH_MAX], struct err *e) {
    if (!where_open(e)) return false;
    if (id[0]) return personal("XDG_STATE_HOME", ".local/state", out, e) && below(out, id, out, e);
    return where_need_work(e) && snprintf(out, PATH_MAX, "%s", own) < PATH_MAX;
}

bool where_cache(char out[PATH_MAX], struct err *e) {
    static char found[PATH_MAX];
    if (!where_open(e)) return false;
    if (!installed) return below(own, "cache", out, e);
    if (!found[0] && !personal("XDG_CACHE_HOME", ".cache", found, e)) return found[0] = 0, false;
    return snprintf(out, PATH_MAX, "%s", found) < PATH_MAX;
}

bool where_pages(char out[PATH_MAX], struct err *e) {
    return where_open(e) && where_need_work(e) &&
           snprintf(out, PATH_MAX, "%s", id[0] ? work : own) < PATH_MAX;
}

/* ---- programs ---- */

static const struct {
    const char *name, *built, *installed; /* beside the programs of each kind */
} parts[] = {
    {"grader", "grader", "grader"},
    {"simgpu", "simgpu", "simgpu"},
    {"device", "libexec/device", "../libexec/warpbook/device"},
    {"hostproc", "libexec/hostproc", "../libexec/warpbook/hostproc"},
    {"libwbcudart.a", "lib/libwbcudart.a", "../lib/warpbook/libwbcudart.a"},
    {"carry", "lib/carry", "../lib/warpbook/carry"},
};

const char *where_part(const char *name, char out[PATH_MAX]) {
    struct err e = {0};
    if (!where_open(&e) && !own[0]) die("%s", e.text);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i].name, name))
            return path_join(out, PATH_MAX, own, installed ? parts[i].installed : parts[i].built)
                       ? out
                       : "";
    die("where_part: %s", name);
}

const char *where_typed(const char *program) {
    static char typed[4][WHERE_TYPED];
    static unsigned next;
    char *out = typed[next++ % 4];
    if (id[0] && !installed && snprintf(out, WHERE_TYPED, "%s/%s", own, program) < WHERE_TYPED)
        return out;
    snprintf(out, WHERE_TYPED, "%s%s", installed || id[0] ? "" : "build/", program);
    return out;
}

/* ---- the compiler ---- */

static bool is_toolkit(const char *folder, char out[PATH_MAX]) {
    /* Its path goes through a shell where versions are asked for. */
    return realpath(folder, out) && !strchr(out, '\'') && has(out, "bin/nvcc");
}

/* What is called nvcc may be a script that leads to the compiler elsewhere: it says where that is.
 */
static bool ask_path(char out[PATH_MAX]) {
    char line[PATH_MAX + 16], top[PATH_MAX] = "";
    FILE *f = popen("nvcc --dryrun -c none.cu 2>&1", "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (text_starts(line, "#$ TOP=") && !top[0]) snprintf(top, sizeof top, "%.4000s", line + 7);
    }
    if (f) pclose(f);
    return top[0] && is_toolkit(top, out);
}

static bool find_toolkit(char out[PATH_MAX], struct err *e) {
    const char *told = getenv("CUDA_HOME");
    if (told && *told)
        return is_toolkit(told, out) ||
               err_set(e, ERR_SYSTEM, "CUDA_HOME is %.300s, where there is no bin/nvcc", told);
    if ((recorded[0] && is_toolkit(recorded, out)) || ask_path(out) ||
        is_toolkit("/usr/local/cuda", out))
        return true;
    return err_set(e, ERR_SYSTEM,
                   "there is no nvcc: neither on PATH nor in /usr/local/cuda%s%s. Install the CUDA "
                   "Toolkit (12 or 13), or "
                   "set CUDA_HOME to the folder whose bin/ has it",
                   recorded[0] ? " nor in " : "", recorded);
}

bool where_toolkit(char out[PATH_MAX], struct err *e) {
    static char found[PATH_MAX];
    char link[PATH_MAX];
    if (!where_open(e)) return false;
    if (!found[0] && installed && !find_toolkit(found, e)) return found[0] = 0, false;
    if (!found[0] && !installed &&
        !(path_join(link, sizeof link, own, "cuda") && realpath(link, found)))
        return found[0] = 0,
               err_set(e, ERR_SYSTEM, "%s/cuda: no CUDA toolkit there; run `make setup`", own);
    return snprintf(out, PATH_MAX, "%s", found) < PATH_MAX;
}

bool where_disassembler(char out[PATH_MAX]) {
    struct err ignored = {0};
    char path[PATH_MAX], folder[PATH_MAX];
    if (installed)
        return where_toolkit(folder, &ignored) &&
               path_join(path, sizeof path, folder, "bin/nvdisasm") && realpath(path, out);
    return path_join(path, sizeof path, own, "nvdisasm") && realpath(path, out);
}
