/* paths.c — see paths.h. The file share/warpbook/installed next to bin/ marks an installation. No
 * path is compiled in, so an installation can be moved, and one build serves both layouts. */
#include "common/paths.h"
#include "common/file.h"
#include "common/text.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char program_dir[PATH_MAX], book_dir[PATH_MAX], workspace_dir[PATH_MAX],
    workspace_id[PATHS_ID_SIZE];
static char foreign_workspace[PATH_MAX]; /* another user's workspace that contains us, or "" */
static char installed_toolkit[PATH_MAX]; /* the toolkit recorded at installation, or "" */
static bool is_initialized, is_installed;

bool paths_is_installed(void) { return is_installed; }
const char *paths_book_dir(void) { return book_dir; }
const char *paths_workspace_dir(void) { return workspace_dir; }
const char *paths_program_dir(void) { return program_dir; }
bool paths_in_workspace(void) { return workspace_id[0]; }

static bool has_file(const char *folder, const char *name) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, folder, name) && file_exists(path);
}

/* Changes the path to its parent folder; returns false if there is none. */
static bool to_parent_dir(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = 0;
    return true;
}

/* ---- the programs and the book ---- */

static bool find_program_dir(struct err *e) {
    ssize_t n = readlink("/proc/self/exe", program_dir, sizeof program_dir - 1);
    if (n < 0) return err_set(e, ERR_SYSTEM, "cannot read /proc/self/exe; is /proc mounted?");
    program_dir[n] = 0;
    to_parent_dir(program_dir);
    if (text_ends_with(program_dir, "/tests")) to_parent_dir(program_dir); /* build/tests/unit */
    return true;
}

/* Reads the file that the installation left, with lines "KEY VALUE". */
static void read_installed(const char *path) {
    struct buf text = {0};
    struct err ignored = {0};
    char *saveptr = NULL;
    if (!file_read(path, 1 << 16, &text, &ignored)) return;
    for (char *l = strtok_r(text.data, "\n", &saveptr); l; l = strtok_r(NULL, "\n", &saveptr))
        if (text_starts_with(l, "toolkit /"))
            snprintf(installed_toolkit, sizeof installed_toolkit, "%s", l + 8);
    buf_free(&text);
}

static bool find_installed(void) {
    char prefix[PATH_MAX], path[PATH_MAX];
    snprintf(prefix, sizeof prefix, "%s", program_dir);
    if (!to_parent_dir(prefix)) prefix[0] = 0; /* /bin */
    if (!path_join(book_dir, sizeof book_dir, prefix, "share/warpbook") ||
        !path_join(path, sizeof path, book_dir, "installed") || !file_exists(path))
        return false;
    read_installed(path);
    return is_installed = true;
}

/* Finds the nearest folder from `from` upwards that has chapters/ and Makefile. */
static bool find_source_tree(const char *from) {
    snprintf(book_dir, sizeof book_dir, "%s", from);
    do
        if (has_file(book_dir, "chapters") && has_file(book_dir, "Makefile")) return true;
    while (to_parent_dir(book_dir));
    return book_dir[0] = 0, false;
}

/* ---- the workspace ---- */

bool paths_marker_id(const char *text, char out[PATHS_ID_SIZE]) {
    static const char head[] = "warpbook 1 ";
    if (!text_starts_with(text, head)) return false;
    text += sizeof head - 1;
    if (strspn(text, "0123456789abcdef") != PATHS_ID_SIZE - 1 || text[PATHS_ID_SIZE - 1] != '\n')
        return false;
    memcpy(out, text, PATHS_ID_SIZE - 1);
    return out[PATHS_ID_SIZE - 1] = 0, true;
}

/* Returns true for a workspace of this user. Another user's workspace is ignored: its links could
 * redirect our writes. */
static bool is_own_workspace(const char *folder) {
    char path[PATH_MAX];
    struct stat st;
    struct buf text = {0};
    struct err ignored = {0};
    if (!path_join(path, sizeof path, folder, PATHS_MARKER_FILE) || lstat(path, &st) < 0)
        return false;
    bool is_own_file = st.st_uid == geteuid();
    if (!is_own_file && !foreign_workspace[0])
        snprintf(foreign_workspace, sizeof foreign_workspace, "%s", folder);
    bool ok = is_own_file && file_read(path, 16 << 20, &text, &ignored) &&
              paths_marker_id(buf_str(&text), workspace_id);
    buf_free(&text);
    return ok;
}

static void find_workspace(void) {
    bool found = false;
    if (getcwd(workspace_dir, sizeof workspace_dir)) do
            found = is_own_workspace(workspace_dir);
        while (!found && to_parent_dir(workspace_dir));
    if (!found) snprintf(workspace_dir, sizeof workspace_dir, "%s", is_installed ? "" : book_dir);
}

bool paths_require_workspace(struct err *e) {
    if (workspace_dir[0]) return true;
    if (foreign_workspace[0])
        return err_set(e, ERR_INPUT,
                       "%.500s belongs to another user; work there as that user, or create your "
                       "own workspace with `grader begin DIR`",
                       foreign_workspace);
    return err_set(e, ERR_INPUT,
                   "the current folder is not in a workspace; create one with `grader begin DIR`, "
                   "then cd into it");
}

bool paths_init(struct err *e) {
    char cwd[PATH_MAX];
    if (is_initialized) return true;
    if (!find_program_dir(e)) return false;
    if (!find_installed() && !find_source_tree(program_dir) &&
        !(getcwd(cwd, sizeof cwd) && find_source_tree(cwd)))
        return err_set(e, ERR_INPUT,
                       "no folder with chapters/ and Makefile is above %s or the current folder",
                       program_dir);
    find_workspace();
    return is_initialized = true;
}

/* ---- folders to write to ---- */

/* Sets $VARIABLE/warpbook if that is an absolute path, else FALLBACK/warpbook in the home folder
 * (XDG Base Directory Specification). */
static bool xdg_base_dir(const char *variable, const char *fallback, char out[PATH_MAX],
                         struct err *e) {
    const char *env_value = getenv(variable), *home = getenv("HOME");
    const struct passwd *user = home && *home ? NULL : getpwuid(geteuid());
    if (user) home = user->pw_dir;
    bool ok = env_value && *env_value == '/'
                  ? snprintf(out, PATH_MAX, "%s/warpbook", env_value) < PATH_MAX
                  : home && snprintf(out, PATH_MAX, "%s/%s/warpbook", home, fallback) < PATH_MAX;
    return ok ||
           err_set(e, ERR_INPUT,
                   "there is no home folder; set %s to a folder that you can write to", variable);
}

/* Creates a folder for this user only. Fails if another user owns it or can write to it. */
static bool make_private_dir(const char *path, const char *variable, struct err *e) {
    struct err mkdir_error = {0};
    struct stat st;
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    to_parent_dir(parent);
    if (!dir_create(parent, &mkdir_error) || (mkdir(path, 0700) < 0 && errno != EEXIST) ||
        lstat(path, &st) < 0)
        return err_set(e, ERR_SYSTEM, "%s: %s; set %s to a folder that you can write to", path,
                       mkdir_error.text[0] ? mkdir_error.text : strerror(errno), variable);
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022)) return true;
    return err_set(e, ERR_INPUT,
                   "%s is not a folder that only you can write to, so its files can't be trusted; "
                   "set %s to a folder of your own",
                   path, variable);
}

static bool private_xdg_dir(const char *variable, const char *fallback, char out[PATH_MAX],
                            struct err *e) {
    return xdg_base_dir(variable, fallback, out, e) && make_private_dir(out, variable, e);
}

static bool join_dir(const char *folder, const char *name, char out[PATH_MAX], struct err *e) {
    char base[PATH_MAX];
    snprintf(base, sizeof base, "%s", folder);
    return path_join(out, PATH_MAX, base, name) || err_set(e, ERR_INPUT, "%s: path too long", base);
}

bool paths_state_dir(char out[PATH_MAX], struct err *e) {
    if (!paths_init(e)) return false;
    if (workspace_id[0])
        return private_xdg_dir("XDG_STATE_HOME", ".local/state", out, e) &&
               join_dir(out, workspace_id, out, e);
    return paths_require_workspace(e) && snprintf(out, PATH_MAX, "%s", program_dir) < PATH_MAX;
}

bool paths_cache_dir(char out[PATH_MAX], struct err *e) {
    static char found[PATH_MAX];
    if (!paths_init(e)) return false;
    if (!is_installed) {
        if (!join_dir(program_dir, "cache", out, e)) return false;
        mkdir(out, 0700); /* fails if it exists; cache.h checks who may write there */
        return true;
    }
    if (!found[0] && !private_xdg_dir("XDG_CACHE_HOME", ".cache", found, e))
        return found[0] = 0, false;
    return snprintf(out, PATH_MAX, "%s", found) < PATH_MAX;
}

bool paths_pages_dir(char out[PATH_MAX], struct err *e) {
    return paths_init(e) && paths_require_workspace(e) &&
           snprintf(out, PATH_MAX, "%s", workspace_id[0] ? workspace_dir : program_dir) < PATH_MAX;
}

/* ---- programs ---- */

static const struct {
    const char *name, *built, *installed; /* paths relative to the programs in each layout */
} components[] = {
    {"grader", "grader", "grader"},
    {"simgpu", "simgpu", "simgpu"},
    {"device", "libexec/device", "../libexec/warpbook/device"},
    {"hostproc", "libexec/hostproc", "../libexec/warpbook/hostproc"},
    {"trim_headers", "libexec/trim_headers", "../libexec/warpbook/trim_headers"},
    {"libwbcudart.a", "lib/libwbcudart.a", "../lib/warpbook/libwbcudart.a"},
    {"libwbcublas.a", "lib/libwbcublas.a", "../lib/warpbook/libwbcublas.a"},
    {"libwbcusparse.a", "lib/libwbcusparse.a", "../lib/warpbook/libwbcusparse.a"},
    {"libwbcufft.a", "lib/libwbcufft.a", "../lib/warpbook/libwbcufft.a"},
    {"libwbcurand.a", "lib/libwbcurand.a", "../lib/warpbook/libwbcurand.a"},
    {"carry", "lib/carry", "../lib/warpbook/carry"},
};

const char *paths_component(const char *name, char out[PATH_MAX]) {
    struct err e = {0};
    if (!paths_init(&e) && !program_dir[0]) die("%s", e.text);
    for (unsigned i = 0; i < sizeof components / sizeof *components; i++)
        if (!strcmp(components[i].name, name))
            return path_join(out, PATH_MAX, program_dir,
                             is_installed ? components[i].installed : components[i].built)
                       ? out
                       : "";
    die("unknown component %s", name);
}

const char *paths_command(const char *program) {
    static char commands[4][PATHS_COMMAND_SIZE];
    static unsigned next;
    char *out = commands[next++ % 4];
    if (workspace_id[0] && !is_installed &&
        snprintf(out, PATHS_COMMAND_SIZE, "%s/%s", program_dir, program) < PATHS_COMMAND_SIZE)
        return out;
    snprintf(out, PATHS_COMMAND_SIZE, "%s%s", is_installed || workspace_id[0] ? "" : "build/",
             program);
    return out;
}

/* ---- the compiler ---- */

static bool is_toolkit(const char *folder, char out[PATH_MAX]) {
    /* The path is quoted in a shell command (provenance.c). */
    return realpath(folder, out) && !strchr(out, '\'') && has_file(out, "bin/nvcc");
}

/* The nvcc on PATH may be a script that calls the compiler elsewhere; --dryrun prints its location.
 */
static bool toolkit_from_nvcc(char out[PATH_MAX]) {
    char line[PATH_MAX + 16], top[PATH_MAX] = "";
    FILE *f = popen("nvcc --dryrun -c none.cu 2>&1", "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (text_starts_with(line, "#$ TOP=") && !top[0])
            snprintf(top, sizeof top, "%.4000s", line + 7);
    }
    if (f) pclose(f);
    return top[0] && is_toolkit(top, out);
}

static bool find_toolkit(char out[PATH_MAX], struct err *e) {
    const char *env_value = getenv("CUDA_HOME");
    if (env_value && *env_value)
        return is_toolkit(env_value, out) ||
               err_set(e, ERR_SYSTEM, "CUDA_HOME is %.300s, which has no bin/nvcc", env_value);
    if ((installed_toolkit[0] && is_toolkit(installed_toolkit, out)) || toolkit_from_nvcc(out) ||
        is_toolkit("/usr/local/cuda", out))
        return true;
    return err_set(e, ERR_SYSTEM,
                   "there is no nvcc on PATH or in /usr/local/cuda%s%s. Install the CUDA Toolkit "
                   "(12 or 13), or set CUDA_HOME to the folder that has bin/nvcc",
                   installed_toolkit[0] ? " or in " : "", installed_toolkit);
}

bool paths_cuda_toolkit(char out[PATH_MAX], struct err *e) {
    static char found[PATH_MAX];
    char link[PATH_MAX];
    struct err no_book = {0}; /* which a compiler doesn't need */
    if (!paths_init(&no_book) && !program_dir[0]) return *e = no_book, false;
    if (!found[0] && is_installed && !find_toolkit(found, e)) return found[0] = 0, false;
    if (!found[0] && !is_installed &&
        !(path_join(link, sizeof link, program_dir, "cuda") && realpath(link, found)))
        return found[0] = 0,
               err_set(e, ERR_SYSTEM, "%s/cuda: no CUDA toolkit found; run `make setup`",
                       program_dir);
    return snprintf(out, PATH_MAX, "%s", found) < PATH_MAX;
}

/* Where distributions put it. */
const char *paths_codemirror_dir(void) { return "/usr/share/javascript/codemirror"; }

bool paths_nvdisasm(char out[PATH_MAX]) {
    struct err ignored = {0};
    char path[PATH_MAX], folder[PATH_MAX];
    if (is_installed)
        return paths_cuda_toolkit(folder, &ignored) &&
               path_join(path, sizeof path, folder, "bin/nvdisasm") && realpath(path, out);
    return path_join(path, sizeof path, program_dir, "nvdisasm") && realpath(path, out);
}
