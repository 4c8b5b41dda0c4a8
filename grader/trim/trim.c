/* trim.c — see trim.h.
 *
 * A file that nvcc preprocessed begins with the 30 000 lines of cuda_runtime.h, which are the same
 * for each file, since nvcc includes it first. C++ finds a declaration by its name, so a function,
 * class, constant or type whose name occurs nowhere else has no effect on the rest. These are left
 * out, and so on for the names that only they used. Names are compared as text, whatever their
 * scope, in comments and strings, too: a name that occurs by chance costs time and nothing else.
 *
 * Some declarations are found without their name. They stay: operators, and those that the language
 * or nvcc itself looks up (looked_up). All that follows the header stays, with what it includes.
 *
 * Each line keeps its number, so messages and line tables stay the same. But messages can also list
 * candidates; so nvcc_phases_script compiles the whole text where the trimmed one gave a message.
 */
#include "grader/trim/trim.h"
#include "common/buf.h"
#include "common/err.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Names that no text has to contain: the language's for range-based loops, structured bindings,
 * lists, exceptions and allocation; then nvcc's for launches, on the host and on the device. */
static const char looked_up[] =
    "begin end get tuple_size tuple_element initializer_list type_info bad_alloc nothrow_t "
    "align_val_t size_t ptrdiff_t nullptr_t byte std "
    "__cudaPushCallConfiguration __cudaCDP2GetParameterBufferV2 __cudaCDP2LaunchDeviceV2 "
    "cudaGetParameterBufferV2 cudaLaunchDeviceV2 threadIdx blockIdx blockDim gridDim warpSize";

enum { TABLE_SIZE = 1 << 16, NONE = -1 };

/* The names of all declarations, and which declarations are needed. */
struct selection {
    struct declaration_list list;
    struct {
        const char *at;
        size_t length;
        int first; /* of `uses`; NONE = already named */
    } table[TABLE_SIZE];
    int *next_use;     /* by index of a declared name: the next one that is equal */
    unsigned *owner;   /* its declaration */
    bool *is_needed;   /* by declaration */
    unsigned *pending; /* needed declarations whose text has not been read yet */
    unsigned npending;
};

static uint32_t hash_name(const char *at, size_t length) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)at[i]) * 16777619u;
    return h ^ h >> 15;
}

/* Returns the index in the table of a name, or of the free place for it. */
static unsigned find_place(const struct selection *s, const char *at, size_t length) {
    unsigned i = hash_name(at, length) % TABLE_SIZE;
    while (s->table[i].at && (s->table[i].length != length || memcmp(s->table[i].at, at, length)))
        i = (i + 1) % TABLE_SIZE;
    return i;
}

static void enter_names(struct selection *s) {
    for (unsigned d = 0; d < s->list.n; d++)
        for (unsigned i = s->list.at[d].first, n = 0; n < s->list.at[d].nnames; i++, n++) {
            const char *at = s->list.text + s->list.names[i].begin;
            unsigned place = find_place(s, at, s->list.names[i].length);
            s->next_use[i] = s->table[place].at ? s->table[place].first : NONE;
            s->table[place].at = at, s->table[place].length = s->list.names[i].length;
            s->table[place].first = (int)i, s->owner[i] = d;
        }
}

static void need_name(struct selection *s, const char *at, size_t length) {
    unsigned place = find_place(s, at, length);
    if (!s->table[place].at) return;
    for (int i = s->table[place].first; i != NONE; i = s->next_use[i]) {
        unsigned d = s->owner[i];
        if (!s->is_needed[d]) s->pending[s->npending++] = d;
        s->is_needed[d] = true;
    }
    s->table[place].first = NONE;
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* Returns where a text goes on behind a line marker, which names a file. */
static const char *skip_marker(const char *at, const char *end) {
    bool is_marker = end - at > 2 && at[0] == '#' && at[1] == ' ' && isdigit((unsigned char)at[2]);
    const char *newline = is_marker ? memchr(at, '\n', (size_t)(end - at)) : at;
    return newline ? newline : end;
}

/* Needs whatever a text names, in comments and strings, too. */
static void need_names(struct selection *s, const char *at, const char *end) {
    while (at < end) {
        while (at < end && !is_name_char(*at) && *at != '#') at++;
        at = skip_marker(at, end);
        if (at < end && *at == '#') at++;
        const char *begin = at;
        while (at < end && is_name_char(*at)) at++;
        if (at > begin) need_name(s, begin, (size_t)(at - begin));
    }
}

static void select_declarations(struct selection *s, const char *header_end, const char *own,
                                const char *own_end) {
    size_t done = 0;
    need_names(s, looked_up, looked_up + sizeof looked_up - 1);
    for (unsigned d = 0; d < s->list.n; done = s->list.at[d++].end)
        need_names(s, s->list.text + done, s->list.text + s->list.at[d].begin);
    need_names(s, s->list.text + done, header_end);
    need_names(s, own, own_end);
    while (s->npending) {
        const struct declaration *d = &s->list.at[s->pending[--s->npending]];
        need_names(s, s->list.text + d->begin, s->list.text + d->end);
    }
}

/* Writes only the line ends and the line markers of a text. */
static void write_lines(const char *at, const char *end, struct buf *out) {
    for (const char *newline; at < end; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline) return;
        bool is_marker = *at == '#' && at[-1] == '\n';
        buf_add(out, is_marker ? at : newline, is_marker ? (size_t)(newline + 1 - at) : 1);
    }
}

static void write_selection(const struct selection *s, const char *end, struct buf *out) {
    const char *done = s->list.text;
    for (unsigned i = 0; i < s->list.n; i++) {
        const struct declaration *d = &s->list.at[i];
        if (s->is_needed[i]) continue;
        buf_add(out, done, (size_t)(s->list.text + d->begin - done));
        write_lines(s->list.text + d->begin, s->list.text + d->end, out);
        done = s->list.text + d->end;
    }
    buf_add(out, done, (size_t)(end - done));
}

/* Selects from the list of a split header. */
static void write_needed(struct selection *s, const char *header_end, const char *own,
                         const char *own_end, struct buf *out) {
    s->next_use = xcalloc(s->list.nnames + 1, sizeof *s->next_use);
    s->owner = xcalloc(s->list.nnames + 1, sizeof *s->owner);
    s->is_needed = xcalloc(s->list.n + 1, sizeof *s->is_needed);
    s->pending = xcalloc(s->list.n + 1, sizeof *s->pending);
    enter_names(s);
    select_declarations(s, header_end, own, own_end);
    write_selection(s, header_end, out);
    free(s->next_use), free(s->owner), free(s->is_needed), free(s->pending);
}

/* Returns false if the header has too many names for the table, which needs free places. CUDA
 * 13.0's has 8000. */
static bool write_header(const char *header, const char *header_end, const char *own,
                         const char *own_end, struct buf *out) {
    struct selection *s = xcalloc(1, sizeof *s);
    declarations_split(&s->list, header, (size_t)(header_end - header));
    bool fits = s->list.nnames <= TABLE_SIZE / 2;
    if (fits) write_needed(s, header_end, own, own_end, out);
    declarations_free(&s->list);
    free(s);
    return fits;
}

/* Returns the source's first line. gcc names the source in the text's first line, `# 0 "NAME"`, and
 * where it begins, `# 1 "NAME"`. */
static const char *find_source(const char *text, size_t size, const char *first_end) {
    if (size < 4 || memcmp(text, "# 0 ", 4) != 0) return NULL;
    struct buf marker = {0};
    buf_puts(&marker, "\n# 1 ");
    buf_add(&marker, text + 4, (size_t)(first_end + 1 - text) - 4);
    const char *at = memmem(first_end, (size_t)(text + size - first_end), marker.data, marker.size);
    buf_free(&marker);
    return at ? at + 1 : NULL;
}

bool trim_headers(const char *header, size_t header_size, const char *text, size_t size,
                  struct buf *out) {
    const char *header_name_end = memchr(header, '\n', header_size);
    const char *first_end = memchr(text, '\n', size);
    const char *own = first_end ? find_source(text, size, first_end) : NULL;
    /* A universal character name could spell a name in another way. */
    if (!own || !header_name_end || memmem(own, (size_t)(text + size - own), "\\u", 2) ||
        memmem(own, (size_t)(text + size - own), "\\U", 2))
        return false;
    buf_add(out, text, (size_t)(first_end - text));
    if (!write_header(header_name_end, header + header_size, own, text + size, out)) return false;
    buf_add(out, own, (size_t)(text + size - own));
    return true;
}

/* ---- the host code ---- */

/* Sets `unit` to the text up to the next semicolon or brace, without white space and directives;
 * it is empty at the end. Returns where it ends. cudafe++ writes `#` in directives only. */
static const char *next_unit(const char *at, const char *end, struct buf *unit) {
    buf_clear(unit);
    for (bool ended = false; at < end && !ended; at++) {
        if (*at == '#') {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            at = newline ? newline : end - 1;
        } else if (!isspace((unsigned char)*at)) buf_add(unit, at, 1);
        ended = *at == ';' || *at == '{' || *at == '}';
    }
    return at;
}

/* Returns true if all statements of a text are among those of another, in the same order. */
static bool is_part_of(const char *at, const char *end, const char *whole, const char *whole_end) {
    struct buf unit = {0}, candidate = {0};
    bool found = true;
    for (;;) {
        at = next_unit(at, end, &unit);
        if (!found || !unit.size) break;
        do {
            whole = next_unit(whole, whole_end, &candidate);
            found = candidate.size == unit.size && !memcmp(candidate.data, unit.data, unit.size);
        } while (!found && candidate.size);
    }
    buf_free(&unit), buf_free(&candidate);
    return found;
}

/* Returns the first marker of the source's lines, `# 7 "NAME"`; NULL = none. The file's first line
 * is such a marker. */
static const char *find_own_part(const char *text, size_t size, const char *first_end) {
    const char *name = memchr(text, '"', (size_t)(first_end - text));
    if (!name) return NULL;
    for (const char *at = first_end, *end = text + size; at; at = memchr(at, '\n', end - at)) {
        const char *marker = ++at + 2;
        size_t length = (size_t)(first_end - name);
        if (at + 2 >= end) return NULL;
        while (marker < end && isdigit((unsigned char)*marker)) marker++;
        if (*at == '#' && marker > at + 2 && (size_t)(end - marker) > length &&
            !memcmp(marker + 1, name, length))
            return at;
    }
    return NULL;
}

bool trim_own_part(const char *header, size_t header_size, const char *text, size_t size,
                   struct buf *out) {
    const char *first_end = memchr(text, '\n', size);
    const char *own = first_end ? find_own_part(text, size, first_end) : NULL;
    if (!own || !is_part_of(first_end + 1, own, header, header + header_size)) return false;
    buf_add(out, own, (size_t)(text + size - own));
    return true;
}
