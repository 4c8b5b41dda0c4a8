/* db.c — names of stores on servers, and what both drivers share; see db.h. A password must appear
 * in no message, so a location is shown by a list of the parts that may appear. */
#include "grader/class/db.h"
#include "common/buf.h"
#include "common/text.h"

#include <stdio.h>
#include <string.h>

bool db_set_error(const struct db *db, enum err_kind kind, const char *text, const char *hint,
                  struct err *e) {
    return err_set(e, kind, "%s: %.*s%s", db->name, (int)strcspn(text, "\n"), text, hint);
}

/* ---- locations ---- */

/* Returns the length of "postgresql://" or "postgres://" at the beginning; 0 if there is none. */
static size_t scheme_length(const char *location) {
    static const char *const schemes[] = {"postgresql://", "postgres://"};
    for (unsigned i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (text_starts_with(location, schemes[i])) return strlen(schemes[i]);
    return 0;
}

bool db_is_server(const char *location) {
    return scheme_length(location) || text_starts_with(location, "service=");
}

/* Returns true if the parameter, which `n` bytes long, may be shown. */
static bool may_show(const char *parameter, size_t n) {
    static const char *const keys[] = {"service=", "host=", "port=", "dbname=", "user="};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        if (n >= strlen(keys[i]) && text_starts_with(parameter, keys[i])) return true;
    return false;
}

/* Appends those of the parameters, which `separator` separates, that may be shown. */
static void put_parameters(const char *p, char separator, struct buf *out) {
    const char separators[] = {separator, 0};
    char before = '?';
    for (size_t n; *p; p += n + (p[n] != 0)) {
        n = strcspn(p, separators);
        if (!may_show(p, n)) continue;
        if (separator == '&' || out->size) buf_printf(out, "%c", separator == '&' ? before : ' ');
        buf_add(out, p, n), before = '&';
    }
}

/* Appends user, hosts and database. An unescaped @, / or ? in a password moves the end of the
 * host's name, so a second @, or one behind the first / or ?, is refused. */
static bool put_authority(const char *p, struct buf *out) {
    size_t n = strcspn(p, "?"), host_end = strcspn(p, "/?");
    const char *at = strchr(p, '@'), *colon = memchr(p, ':', host_end);
    if (at && (at > p + host_end || strchr(at + 1, '@'))) return false;
    if (at) {
        size_t user_size = (size_t)((colon && colon < at ? colon : at) - p);
        buf_add(out, p, user_size);
        n -= (size_t)(at - p), p = at;
    }
    buf_add(out, p, n);
    return true;
}

bool db_shown_location(const char *location, char *out, size_t size) {
    struct buf shown = {0};
    size_t n = scheme_length(location);
    buf_add(&shown, location, n);
    bool ok = !n || put_authority(location + n, &shown);
    const char *parameters = n ? strchr(location, '?') : location;
    if (parameters) put_parameters(parameters + (n != 0), n ? '&' : ' ', &shown);
    snprintf(out, size, "%s", ok ? buf_str(&shown) : "postgresql://");
    buf_free(&shown);
    return ok;
}
