/* baseline_data.c — see baseline_data.h. */
#include "grader/grade/baseline_data.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/grade/provenance.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DATA_BYTES = 4 << 20 };
static const char header[] = "warpbook-figures 2\n", trailer[] = "\nend ";

static bool data_path(char path[PATH_MAX]) {
    return path_join(path, PATH_MAX, paths_book_dir(), "chapters/figures.txt");
}

bool baseline_data_exists(void) {
    char path[PATH_MAX];
    return data_path(path) && file_exists(path);
}

/* Returns the verified text, which is read once, or NULL. */
static const char *load_text(struct err *e) {
    static struct buf cached;
    static bool is_loaded;
    char path[PATH_MAX];
    if (is_loaded) return buf_str(&cached);
    buf_clear(&cached);
    is_loaded = data_path(path) && file_read(path, MAX_DATA_BYTES, &cached, e) &&
                baseline_data_verify(&cached, e);
    return is_loaded ? buf_str(&cached) : NULL;
}

bool baseline_data_verify(const struct buf *text, struct err *e) {
    char digest[HASH_HEX_SIZE];
    const char *s = buf_str(text), *end = strstr(s, trailer), *from = strstr(s, header);
    if (end) sha256_hex(s, (size_t)(end + 1 - s), digest);
    if (end && from && from < end && !strncmp(end + sizeof trailer - 1, digest, HASH_HEX_SIZE - 1))
        return true;
    return err_set(
        e, ERR_SYSTEM,
        "chapters/figures.txt is damaged or of another version; unpack the release again");
}

void baseline_data_append_digest(struct buf *text) {
    char digest[HASH_HEX_SIZE];
    sha256_hex(buf_str(text), text->size, digest);
    buf_printf(text, "end %s\n", digest);
}

/* Returns the rest of the next line that begins with `prefix` and a space, or NULL; `at` moves past
 * it. */
static const char *next_line_with(const char **at, const char *prefix) {
    size_t n = strlen(prefix);
    for (const char *l = *at; *l; l += strcspn(l, "\n"), l += *l == '\n')
        if (!strncmp(l, prefix, n) && l[n] == ' ') return *at = l + strcspn(l, "\n"), l + n + 1;
    return NULL;
}

/* Returns what follows the key in the rest of a line, or NULL if the key is another one. */
static const char *after_key(const char *rest, const char *key) {
    size_t n = strcspn(rest, " \n");
    return rest[n] == ' ' && (!key || (strlen(key) == n && !strncmp(rest, key, n))) ? rest + n + 1
                                                                                    : NULL;
}

bool baseline_data_find_times(const char *text, const char *exercise, const char *device,
                              const char *version, const char *key, double times[2]) {
    char start[256];
    snprintf(start, sizeof start, "times %s %s %s", exercise, device, version);
    const char *found = next_line_with(&text, start), *rest = found ? after_key(found, key) : NULL;
    return rest && sscanf(rest, "%la %la", &times[0], &times[1]) == 2;
}

void baseline_data_find_limits(const char *text, const char *exercise, const char *key,
                               struct buf *out) {
    char start[256];
    snprintf(start, sizeof start, "limit %s", exercise);
    for (const char *l; (l = next_line_with(&text, start));)
        if ((l = after_key(l, key))) buf_printf(out, "%.*s\n", (int)strcspn(l, "\n"), l);
}

bool baseline_data_has(const char *text, const char *exercise) {
    char start[256];
    snprintf(start, sizeof start, "times %s", exercise);
    return next_line_with(&text, start);
}

bool baseline_data_load(const char *exercise, struct err *e) {
    const char *text = load_text(e);
    if (!text) return false;
    return baseline_data_has(text, exercise) ||
           err_set(e, ERR_SYSTEM, "this release has neither a model solution of %s nor its figures",
                   exercise);
}

bool baseline_data_times(const char *exercise, const char *device, const char *version,
                         const char *key, double times[2], struct err *e) {
    const char *text = load_text(e);
    return text && baseline_data_find_times(text, exercise, device, version, key, times);
}

bool baseline_data_limits(const char *exercise, const char *key, struct buf *out, struct err *e) {
    const char *text = load_text(e);
    if (text) baseline_data_find_limits(text, exercise, key, out);
    return text;
}

/* Copies the rest of the header line that begins with `name`; "" = there is none. */
static void find_header(const char *name, char *out, size_t size) {
    struct err ignored = {0};
    const char *text = load_text(&ignored), *found = text ? next_line_with(&text, name) : NULL;
    snprintf(out, size, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
}

const char *baseline_data_nvcc_version(void) {
    static char version[128];
    find_header("nvcc", version, sizeof version);
    return version;
}

const char *baseline_data_simulator(void) { return SIMULATOR_DIGEST; }

bool baseline_data_is_current(void) {
    char simulator[64];
    find_header("simulator", simulator, sizeof simulator);
    return !strcmp(simulator, SIMULATOR_DIGEST) &&
           !strcmp(baseline_data_nvcc_version(), grade_nvcc_version());
}

void baseline_data_key(const struct exercise *ex, const char *source, size_t size,
                       char key[BASELINE_KEY_SIZE]) {
    char digest[HASH_HEX_SIZE];
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, ex->test_digest);
    hash_update(&h, source, size);
    hash_final_hex(&h, digest);
    snprintf(key, BASELINE_KEY_SIZE, "%.16s", digest);
}
