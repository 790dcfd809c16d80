/*
 * shelf.c - compiled schemas under their fingerprints. Servers tell their tools again and again,
 * and many tools have equal schemas: each is compiled once. What was not asked for longest goes
 * first when there are too many bytes of them. What tools hold of them is shared by the rules of
 * lib/core/holders.h.
 */
#include "lib/contract/schema_state.h"

#include "lib/contract/canonical.h"
#include "lib/contract/tree_find.h"
#include "lib/contract/tree_read.h"

#include <stdlib.h>

/* Bytes of compiled schemas: on the shelf, and held by all tools. */
enum { SHELF_BYTES_MAX = 64 * 1024 * 1024 };

/* The one asked for last comes last. */
struct mcpx_shelf {
    struct mx_metas metas;
    struct mcpx_schema **schemas;
    size_t count;
    size_t room;
    size_t bytes;
    struct mx_tools_share share;
};

struct mcpx_shelf *mcpx_shelf_new(void)
{
    struct mcpx_shelf *shelf = (struct mcpx_shelf *)calloc(1, sizeof *shelf);

    if (shelf)
        shelf->share.held = (struct mx_holders){
            .key = {{1, 2}}, .cap = MCPX_SCHEMA_SHARE, .total = SHELF_BYTES_MAX};
    if (shelf && !mx_metas_make(&shelf->metas)) {
        mcpx_shelf_free(shelf);
        return NULL;
    }
    return shelf;
}

void mcpx_shelf_free(struct mcpx_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->count; i++)
        mcpx_schema_unref(shelf->schemas[i]);
    mx_metas_fini(&shelf->metas);
    mx_holders_fini(&shelf->share.held);
    free(shelf->schemas);
    free(shelf);
}

struct mx_tools_share *mx_shelf_share(struct mcpx_shelf *shelf)
{
    return &shelf->share;
}

size_t mcpx_shelf_count(const struct mcpx_shelf *shelf)
{
    return shelf->count;
}

size_t mcpx_shelf_bytes(const struct mcpx_shelf *shelf)
{
    return shelf->bytes;
}

/* The fingerprint of a schema in a text; false when it has none: compiling says why. */
static bool take_fingerprint(struct mcpx_slice text, struct mcpx_slice pointer, char *out)
{
    struct mcpx_text canonical = {0};
    struct mx_tree tree = {0};
    uint32_t node = 0;
    bool taken = text.len <= MCPX_SCHEMA_BYTES_MAX &&
                 mx_tree_read(&tree, text, NULL) == MCPX_OK && !tree.ambiguous &&
                 mx_tree_point(&tree, 0, pointer, &node);

    if (taken)
        mx_canonical_value(&canonical, &tree, node);
    taken = taken && !canonical.failed &&
            mcpx_digest_bytes(mcpx_text_view(&canonical), out) == MCPX_OK;
    mcpx_text_fini(&canonical);
    mx_tree_fini(&tree);
    return taken;
}

/* The place of a schema on the shelf; `count` when it is not there. */
static size_t find(const struct mcpx_shelf *shelf, const char *fingerprint,
                   enum mcpx_dialect dialect)
{
    size_t i = 0;

    while (i < shelf->count &&
           (shelf->schemas[i]->dialect != dialect ||
            memcmp(shelf->schemas[i]->fingerprint, fingerprint, MCPX_SHA256_LEN) != 0))
        i++;
    return i;
}

/* Takes a schema off the shelf; the caller owns the shelf's reference. */
static struct mcpx_schema *take(struct mcpx_shelf *shelf, size_t place)
{
    struct mcpx_schema *schema = shelf->schemas[place];

    shelf->count--;
    memmove(shelf->schemas + place, shelf->schemas + place + 1,
            (shelf->count - place) * sizeof *shelf->schemas);
    shelf->bytes -= schema->bytes;
    return schema;
}

/* Puts a schema on the shelf, which keeps one reference, unless there is no memory. */
static void put(struct mcpx_shelf *shelf, struct mcpx_schema *schema)
{
    if (shelf->count == shelf->room) {
        size_t room = shelf->room ? shelf->room * 2 : 16;
        struct mcpx_schema **grown =
            (struct mcpx_schema **)realloc(shelf->schemas, room * sizeof *grown);

        if (!grown)
            return;
        shelf->schemas = grown;
        shelf->room = room;
    }
    shelf->schemas[shelf->count++] = mcpx_schema_ref(schema);
    shelf->bytes += schema->bytes;
    while (shelf->bytes > SHELF_BYTES_MAX && shelf->count > 0)
        mcpx_schema_unref(take(shelf, 0));
}

enum mcpx_err mcpx_schema_compile(struct mcpx_shelf *shelf, struct mcpx_slice text,
                                  const struct mcpx_schema_options *options,
                                  struct mcpx_schema_report *report, struct mcpx_schema **out)
{
    static const struct mcpx_schema_options defaults = {.dialect = MCPX_DIALECT_2020_12};
    struct mcpx_schema_report unread = {MCPX_VERDICT_VALID, 0, {{{0}, {0}, {0}}}, NULL};
    char fingerprint[MCPX_SHA256_LEN + 1] = "";
    struct mcpx_schema *schema;
    bool has_one, is_kept;
    enum mcpx_err err;

    if (!options)
        options = &defaults;
    has_one = take_fingerprint(text, options->pointer, fingerprint);
    is_kept = has_one && !options->find && options->uri.len == 0;
    if (is_kept) {
        size_t place = find(shelf, fingerprint, options->dialect);

        if (place < shelf->count) {
            schema = take(shelf, place);
            put(shelf, schema);
            *out = schema;
            return MCPX_OK;
        }
    }
    err = mx_schema_make(&shelf->metas, text, options, report ? report : &unread, &schema);
    mcpx_schema_report_fini(&unread);
    if (err)
        return err;
    memcpy(schema->fingerprint, fingerprint, sizeof schema->fingerprint);
    if (is_kept)
        put(shelf, schema);
    *out = schema;
    return MCPX_OK;
}
