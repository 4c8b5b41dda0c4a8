/* result_cache.c — see result_cache.h. */
#include "grader/grade/result_cache.h"
#include "common/file.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/grade/build.h"
#include "common/cache.h"
#include "grader/grade/compiler_jail.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/provenance.h"
#include "grader/grade/result_serialize.h"
#include "grader/jail/jail.h"

#include <limits.h>

static const char kind[] = "results";

/* Hashes what a release without model solutions has in their place (baseline_data.h). */
static void hash_baseline_data(struct hash *h) {
    char path[PATH_MAX];
    struct buf text = {0};
    struct err ignored = {0};
    if (path_join(path, sizeof path, paths_book_dir(), "chapters/figures.txt") &&
        file_exists(path) && file_read(path, 16 << 20, &text, &ignored))
        hash_update(h, text.data, text.size);
    buf_free(&text);
}

static void hash_options(struct hash *h, const struct grade_options *o) {
    char policy[HASH_HEX_SIZE];
    bool flags[] = {o->count_modelled,
                    o->empty_caches,
                    o->trusted,
                    o->no_speed,
                    o->size_seed_includes_source,
                    o->check_only,
                    jail_disabled(),
                    build_disassembler(NULL)};
    hash_update(h, flags, sizeof flags);
    hash_update(h, &o->only_case, sizeof o->only_case);
    hash_update_string(h, o->device->name);
    grade_policy_digest(o->policy, policy);
    hash_update_string(h, policy);
    hash_update_string(h, o->reuse == GRADE_REUSE_DRAWN_SEED ? "drawn" : "fixed");
    hash_update_string(h, o->reuse == GRADE_REUSE_DRAWN_SEED ? "" : o->seed);
}

bool result_cache_key(const struct exercise *ex, const char *name, const void *source, size_t size,
                      const struct grade_options *o, char key[HASH_HEX_SIZE]) {
    char build[HASH_HEX_SIZE], book[HASH_HEX_SIZE];
    struct hash h;
    if (o->reuse == GRADE_ANEW || gpu_options_of(o->device) ||
        !build_find_key(&(struct build_source){name, source, size, ex->sm_90a}, build))
        return false;
    hash_init(&h);
    hash_update_string(&h, "result 1");
    cache_add_grader(&h);
    hash_update_string(&h, build);
    grade_book_digest(ex, book);
    hash_update_string(&h, book);
    hash_baseline_data(&h);
    hash_options(&h, o);
    hash_final_hex(&h, key);
    return true;
}

bool result_cache_load(const struct exercise *ex, const char *key, struct result *out) {
    struct buf entry = {0};
    bool ok = cache_get(kind, key, &entry);
    if (ok && !result_deserialize(out, ex, buf_str(&entry), entry.size))
        result_free(out), ok = false;
    if (ok) out->is_kept = true;
    buf_free(&entry);
    return ok;
}

static bool may_keep(const struct grade_options *o, const struct result *r) {
    bool is_correct = r->verdict == V_AC || r->verdict == V_PART,
         lacks_time = is_correct && !o->no_speed && !r->is_single_case && !r->speed.valid;
    return !r->depends_on_machine && !lacks_time && r->verdict != V_IE &&
           r->verdict != V_UNSTABLE && r->verdict != V_TLE && r->verdict != V_MLE;
}

void result_cache_store(const char *key, const struct grade_options *o, const struct result *r) {
    struct buf entry = {0};
    if (!may_keep(o, r)) return;
    result_serialize(r, &entry);
    cache_put(kind, key, entry.data, entry.size);
    buf_free(&entry);
}
