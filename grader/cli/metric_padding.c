/* metric_padding.c — adds idle work to a version (metric_padding.h). A preprocessor macro renames
 * the source's entry, so that its text needn't be parsed. A new entry with the exercise's signature
 * calls it and then does the idle work. */
#include "grader/cli/metric_padding.h"
#include "common/file.h"
#include "grader/book/book.h"

#include <limits.h>
#include <stdio.h>

static const char *const type_names[] = {
#define X(id, type, name) [id] = name,
    EX_TYPES(X)
#undef X
};

void entry_put_arguments(const struct exercise *ex, bool with_types, struct buf *out) {
    for (unsigned i = 0; i < ex->nargs; i++) {
        const struct ex_arg *a = &ex->args[i];
        if (i) buf_puts(out, ", ");
        if (with_types)
            buf_printf(out, "%s%s %s", a->role == EX_IN ? "const " : "", type_names[a->type],
                       a->role == EX_SCALAR ? "" : "*");
        buf_puts(out, a->name);
    }
}

void entry_put_size_condition(const struct exercise *ex, const struct ex_case *c, struct buf *out) {
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].role == EX_SCALAR && !ex->args[i].value)
            buf_printf(out, "%s == %ld && ", ex->args[i].name, c->dim[ex->args[i].dim]);
    buf_puts(out, "true");
}

bool metric_padding_source(const struct exercise *ex, const struct buf *source, bool packed_only,
                           struct buf *out, struct err *e) {
    const char *entry = book_entry(ex);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/grader/template/metric_padding.cuh", book_root());
    buf_printf(out, "#define %s diluted_entry\n", entry);
    buf_add(out, source->data, source->size);
    buf_printf(out, "\n#undef %s\n", entry);
    if (!file_read(path, 1 << 16, out, e)) return false;
    buf_printf(out, "\nextern \"C\" void %s(", entry);
    entry_put_arguments(ex, true, out);
    buf_puts(out, ") {\n    padding_call(diluted_entry, ");
    entry_put_arguments(ex, false, out);
    buf_puts(out, ");\n    if (");
    entry_put_size_condition(ex, &ex->technique_case, out);
    buf_printf(out, ") padding_launch(%s);\n}\n",
               packed_only ? "padding_vector_kernel" : "padding_kernel");
    return true;
}
