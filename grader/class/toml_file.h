/* toml_file.h — reads a TOML file as a sequence of values, each with its table, key and line;
 * assignment.c calls it. It is a C header for toml++. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum class_toml_kind {
    CLASS_TOML_STRING,
    CLASS_TOML_NUMBER,
    CLASS_TOML_BOOLEAN,
    CLASS_TOML_DATETIME,
    CLASS_TOML_TABLE,
    CLASS_TOML_OTHER
};

struct class_toml_value {
    const char *table; /* its table: "", "late", "exercise" */
    unsigned index;    /* of the table in its array of tables, from 0; 0 outside of arrays */
    const char *key;   /* "" for a table itself */
    enum class_toml_kind kind;
    const char *text; /* of a string */
    double number;    /* of a number, a boolean (0 or 1), or a time (seconds since 1970, UTC) */
    bool has_offset;  /* the time has an offset from UTC */
    unsigned line;
};

/* Calls `on_value` for every table and value, in the order of the text, until it returns false.
 * Returns false if it did, or if the text is not TOML; then `error_text` and `*line` have the
 * error. Only tables of the first level are read; deeper ones are values of CLASS_TOML_OTHER. */
bool class_toml_read(const char *text, size_t size,
                     bool (*on_value)(void *user, const struct class_toml_value *v), void *user,
                     char error_text[256], unsigned *line);

#ifdef __cplusplus
}
#endif
