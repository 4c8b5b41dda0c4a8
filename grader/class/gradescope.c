/* gradescope.c — reads submission_metadata.yml of a Gradescope export; plan.c calls it (plan.h).
 * The file maps folders to mappings. Their key ":submitters" has a list of people with ":name",
 * ":sid" and ":email"; their key ":created_at" has the submission's time. Other keys are ignored.
 * libyaml parses the file. */
#include "common/buf.h"
#include "common/file.h"
#include "grader/class/plan.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { MAX_METADATA_BYTES = 64 << 20 };

static const char *scalar_text(const yaml_node_t *n) {
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

/* Returns the value of a key; NULL = none. The colon that Ruby writes before a key is optional. */
static yaml_node_t *map_value(yaml_document_t *d, const yaml_node_t *map, const char *key) {
    if (!map || map->type != YAML_MAPPING_NODE) return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const char *name = scalar_text(yaml_document_get_node(d, p->key));
        if (!strcmp(name + (*name == ':'), key)) return yaml_document_get_node(d, p->value);
    }
    return NULL;
}

typedef void submitter_fn(void *user, const char *folder, const char *const identity[3],
                          const char *time);

static void read_submitters(yaml_document_t *d, const char *folder, const yaml_node_t *submission,
                            submitter_fn *on_submitter, void *user) {
    const yaml_node_t *list = map_value(d, submission, "submitters");
    const char *time = scalar_text(map_value(d, submission, "created_at"));
    if (!list || list->type != YAML_SEQUENCE_NODE) return;
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top;
         i++) {
        yaml_node_t *person = yaml_document_get_node(d, *i);
        on_submitter(user, folder,
                     (const char *const[3]){scalar_text(map_value(d, person, "sid")),
                                            scalar_text(map_value(d, person, "email")),
                                            scalar_text(map_value(d, person, "name"))},
                     time);
    }
}

static bool parse_metadata(const struct buf *text, const char *path, submitter_fn *on_submitter,
                           void *user, struct err *e) {
    yaml_parser_t parser;
    yaml_document_t d;
    if (!yaml_parser_initialize(&parser)) die("out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)buf_str(text), text->size);
    bool ok = yaml_parser_load(&parser, &d);
    const yaml_node_t *root = ok ? yaml_document_get_root_node(&d) : NULL;
    if (!root || root->type != YAML_MAPPING_NODE)
        err_set(e, ERR_INPUT, "%s: not Gradescope metadata%s%s", path, parser.problem ? ": " : "",
                parser.problem ? parser.problem : "");
    else
        for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
             p++)
            read_submitters(&d, scalar_text(yaml_document_get_node(&d, p->key)),
                            yaml_document_get_node(&d, p->value), on_submitter, user);
    bool is_mapping = root && root->type == YAML_MAPPING_NODE;
    if (ok) yaml_document_delete(&d);
    yaml_parser_delete(&parser);
    return is_mapping;
}

bool plan_read_gradescope(const char *path, submitter_fn *on_submitter, void *user, struct err *e) {
    struct buf text = {0};
    bool ok = file_read(path, MAX_METADATA_BYTES, &text, e) &&
              parse_metadata(&text, path, on_submitter, user, e);
    buf_free(&text);
    return ok;
}
