/* gradescope.c — submission_metadata.yml of a Gradescope export (see plan.h): a mapping of folders
 * to mappings, whose key
 * ":submitters" holds a list of people with ":name", ":sid" and ":email", and whose ":created_at"
 * is the time of the submission. libyaml reads it; nothing else of it is used. */
#include "common/buf.h"
#include "common/file.h"
#include "grader/class/plan.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { METADATA_BYTES = 64 << 20 };

static const char *text_of(const yaml_node_t *n) {
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

/* The value of a key; the colon that Ruby puts before it may be missing. */
static yaml_node_t *value(yaml_document_t *d, const yaml_node_t *map, const char *key) {
    if (!map || map->type != YAML_MAPPING_NODE) return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const char *name = text_of(yaml_document_get_node(d, p->key));
        if (!strcmp(name + (*name == ':'), key)) return yaml_document_get_node(d, p->value);
    }
    return NULL;
}

typedef void submitter(void *user, const char *folder, const char *const names[3],
                       const char *time);

static void people(yaml_document_t *d, const char *folder, const yaml_node_t *one_folder,
                   submitter *each, void *user) {
    const yaml_node_t *list = value(d, one_folder, "submitters");
    const char *time = text_of(value(d, one_folder, "created_at"));
    if (!list || list->type != YAML_SEQUENCE_NODE) return;
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top;
         i++) {
        yaml_node_t *one = yaml_document_get_node(d, *i);
        each(user, folder,
             (const char *const[3]){text_of(value(d, one, "sid")), text_of(value(d, one, "email")),
                                    text_of(value(d, one, "name"))},
             time);
    }
}

static bool document(const struct buf *text, const char *path, submitter *each, void *user,
                     struct err *e) {
    yaml_parser_t parser;
    yaml_document_t d;
    if (!yaml_parser_initialize(&parser)) die("out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)buf_str(text), text->size);
    bool ok = yaml_parser_load(&parser, &d);
    const yaml_node_t *root = ok ? yaml_document_get_root_node(&d) : NULL;
    if (!root || root->type != YAML_MAPPING_NODE)
        err_set(e, ERR_INPUT, "%s: no Gradescope metadata%s%s", path, parser.problem ? ": " : "",
                parser.problem ? parser.problem : "");
    else
        for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
             p++)
            people(&d, text_of(yaml_document_get_node(&d, p->key)),
                   yaml_document_get_node(&d, p->value), each, user);
    bool good = root && root->type == YAML_MAPPING_NODE;
    if (ok) yaml_document_delete(&d);
    yaml_parser_delete(&parser);
    return good;
}

bool plan_gradescope(const char *path, submitter *each, void *user, struct err *e) {
    struct buf text = {0};
    bool ok = file_read(path, METADATA_BYTES, &text, e) && document(&text, path, each, user, e);
    buf_free(&text);
    return ok;
}
