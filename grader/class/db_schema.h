/* db_schema.h — the tables and views of a store in one database's SQL. Each driver includes it
 * once, behind its macros for what the databases write differently:
 *
 * TEXT, INTEGER, REAL, BYTES  types; an INTEGER has 64 bits, texts are ordered by their bytes
 * ROW_NUMBER                  the type of a primary key that counts up by itself
 * EPOCH(time)                 a UTC time of the form 2026-10-03T21:59:00Z as seconds since 1970
 * JOINED(text)                aggregates texts with blanks between them
 * JSON_ROWS(json, key)        the elements of the array `key` as rows `t`
 * JSON_TEXT(key)              the member `key` of such an element */
#include "grader/class/db.h"

static const struct db_migration migrations[] = {
#define MIGRATION(version, text) {version, text},
#include "grader/class/store.def"
#undef MIGRATION
};
static const struct db_view views[] = {
#define VIEW(name, text) {#name, "CREATE VIEW " #name " AS " text},
#include "grader/class/store_views.def"
#undef VIEW
};
enum {
    MIGRATION_COUNT = sizeof migrations / sizeof *migrations,
    VIEW_COUNT = sizeof views / sizeof *views
};
