/* toml_file.h — a TOML file as a list of its values, each with its path and line: toml++ reads it,
 * behind this C header. */
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
    const char *table; /* the table that it stands in: "", "late", "exercise" */
    unsigned index;    /* of the table in its array of tables, from 0; 0 where it is in none */
    const char *key;   /* of a table: "" */
    enum class_toml_kind kind;
    const char *text; /* of a text */
    double number;    /* of a number, a truth value (0 or 1), a time (seconds since 1970, UTC) */
    bool has_offset;  /* of a time: it says how far from UTC it is */
    unsigned line;
};

/* Calls `on_value` with every table and value in the order of the text; stops where it returns
 * false. False: the text is no TOML (`error_text` says what, `*line` where), or `on_value` stopped.
 * Tables are one level deep: deeper ones are of the kind OTHER. */
bool class_toml_read(const char *text, size_t size,
                     bool (*on_value)(void *user, const struct class_toml_value *v), void *user,
                     char error_text[256], unsigned *line);

#ifdef __cplusplus
}
#endif
