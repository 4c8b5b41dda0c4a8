/* similarity_store.c — loads a store's submissions for comparison; see similarity.h. */
#include "grader/book/book.h"
#include "grader/class/similarity.h"

bool similarity_load_store(struct similarity_class *c, struct store *s, struct err *e) {
    sqlite3_stmt *q = store_query(
        s, e,
        "SELECT s.student, s.file, c.body FROM submission s JOIN source c ON c.digest = "
        "s.digest WHERE s.state = 'taken' AND s.exercise = ? ORDER BY s.student",
        "t", book_id(c->ex));
    if (!q) return false;
    similarity_load_book(c);
    while (store_step(s, &q, e))
        similarity_add_text(c, store_column_text(q, 0), store_column_text(q, 1),
                            sqlite3_column_blob(q, 2), (size_t)sqlite3_column_bytes(q, 2));
    return !e->text[0];
}
