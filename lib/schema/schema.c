/*
 * schema.c - makes a compiled schema: reads its documents, checks them by their meta-schemas,
 * compiles. Meta-schemas are schemas for the same engine; those of the two dialects are made first
 * and trusted.
 *
 * A shelf has compiled schemas under their fingerprints. Servers list their tools again and again,
 * and many tools have equal schemas: each is compiled once. When the shelf is full, the least
 * recently used schema goes first. The quotas of tools follow the rules of lib/base/holders.h.
 */
#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/json/tree.h"
#include "lib/schema/build.h"
#include "lib/schema/library.h"
#include "lib/schema/program.h"

#include <stdlib.h>

/* Limit of meta-schemas of meta-schemas: more count as a cycle. */
enum { METAS_MAX = 4 };

struct making {
    struct mcpx_schema *const *metas; /* compiled, by enum mcpx_dialect */
    const struct mcpx_schema_options *options;
    struct mcpx_schema_report *report;
    struct mx_library library;
    struct mx_build build;
    uint32_t checked; /* roots valid by their meta-schema */
    unsigned depth;   /* meta-schemas around it */
};

static enum mcpx_err make(struct making *making, struct mcpx_slice uri, struct mcpx_slice text,
                          struct mcpx_schema **out);

struct mcpx_schema *mcpx_schema_ref(struct mcpx_schema *schema)
{
    schema->references++;
    return schema;
}

void mcpx_schema_unref(struct mcpx_schema *schema)
{
    struct mx_compiled_schema *program;

    if (!schema || --schema->references > 0)
        return;
    program = &schema->program;
    for (size_t i = 0; i < program->regex_count; i++)
        mx_regex_free(program->regexes[i]);
    free(program->regexes);
    free(program->units);
    free(program->ops);
    mx_tree_fini(&program->constants);
    mx_arena_fini(&program->arena);
    free(schema);
}

struct mcpx_slice mcpx_schema_fingerprint(const struct mcpx_schema *schema)
{
    return mcpx_slice_of(schema->fingerprint);
}

enum mcpx_err mcpx_schema_validate(const struct mcpx_schema *schema, struct mcpx_slice text,
                                   struct mcpx_schema_report *report)
{
    return mx_evaluate_text(&schema->program, text, false, report);
}

/* The path of a place: in the schema itself from its root, in another document behind its URI. */
static void add_path(const struct making *making, struct mx_place place, struct mcpx_text *out)
{
    const struct mx_library *library = &making->library;

    if (place.document > 0 || making->depth > 0) {
        mcpx_text_slice(out, library->documents[place.document].uri);
        mcpx_text_puts(out, "#");
    }
    mx_tree_path(&library->documents[place.document].tree, place.node, out);
}

static enum mcpx_err refuse(struct making *making, struct mx_place place, const char *keyword,
                            const char *message)
{
    struct mcpx_schema_error error = mx_error("", keyword, message);
    mx_scoped_text path = {0};

    if (place.document < making->library.document_count &&
        making->library.documents[place.document].tree.count > 0)
        add_path(making, place, &path);
    error.path = mcpx_text_view(&path);
    return path.failed ? MCPX_ENOMEM : mx_report_error(making->report, error);
}

static enum mcpx_err refuse_noted(struct making *making)
{
    const struct mx_library *library = &making->library;

    return library->err == MCPX_ENOMEM
               ? MCPX_ENOMEM
               : refuse(making, library->place, library->keyword, library->reason);
}

/* A dialect's meta-schema, to be given back; NULL while the built-in ones are made. */
static enum mcpx_err find_meta(struct making *making, const struct mx_dialect *dialect,
                               struct mcpx_schema **out)
{
    struct making meta = {making->metas, making->options, making->report,
                          .depth = making->depth + 1};

    if (dialect->text.text && meta.depth > METAS_MAX)
        return refuse(making, (struct mx_place){0, 0}, "$schema",
                      "must not be a circle of meta-schemas");
    if (dialect->text.text)
        return make(&meta, dialect->uri, dialect->text, out);
    *out = making->metas[dialect->manner.draft == MX_DRAFT_07 ? MCPX_DIALECT_DRAFT_07
                                                              : MCPX_DIALECT_2020_12];
    if (*out)
        mcpx_schema_ref(*out);
    return MCPX_OK;
}

/* Lists the other roots within a root; `list` has room for all. */
static size_t list_skipped(const struct mx_library *library, struct mx_place root,
                           uint32_t *list)
{
    uint32_t end = mx_tree_next(&library->documents[root.document].tree, root.node);
    size_t count = 0;

    for (uint32_t i = 0; i < library->root_count; i++) {
        struct mx_place other = library->roots[i];

        if (other.document == root.document && other.node > root.node && other.node < end)
            list[count++] = other.node;
    }
    return count;
}

/* Checks a root by its meta-schema. */
static enum mcpx_err check_root(struct making *making, struct mx_place root)
{
    const struct mx_library *library = &making->library;
    const struct mx_document *document = &library->documents[root.document];
    struct mcpx_schema *meta = NULL;
    mx_scoped_text base = {0};
    struct mx_subject subject = {.tree = &document->tree, .node = root.node};
    uint32_t *skip = calloc(library->root_count, sizeof *skip);
    enum mcpx_err err = skip ? MCPX_OK : MCPX_ENOMEM;

    if (!err && !mx_library_spend(&making->library, root, library->root_count + root.node))
        err = refuse_noted(making);
    if (!err)
        err = find_meta(making, &library->resources[document->resource_of[root.node]].dialect,
                        &meta);
    if (!err && meta) {
        subject.skip = skip;
        subject.skip_count = list_skipped(library, root, skip);
        add_path(making, root, &base);
        subject.base = mcpx_text_view(&base);
        err =
            base.failed ? MCPX_ENOMEM : mx_evaluate(&meta->program, &subject, making->report);
    }
    free(skip);
    mcpx_schema_unref(meta);
    return err == MCPX_ELIMIT ? MCPX_EINVALID : err;
}

static enum mcpx_err check_roots(struct making *making)
{
    enum mcpx_err err = MCPX_OK;

    for (; !err && making->checked < making->library.root_count; making->checked++) {
        struct mx_place root = making->library.roots[making->checked];

        if (!making->library.documents[root.document].builtin)
            err = check_root(making, root);
    }
    return err;
}

static enum mcpx_err fill(struct making *making, struct mcpx_slice uri, struct mcpx_slice text)
{
    enum mcpx_err err, compiled;

    if (!mx_library_add(&making->library, uri, text)) {
        err = making->depth == 0 && text.len <= MCPX_SCHEMA_BYTES_MAX
                  ? mx_report_unreadable(making->report, text, false)
                  : MCPX_OK;
        return err ? err : refuse_noted(making);
    }
    err = check_roots(making);
    if (err)
        return err;
    compiled = mx_compile(&making->build);
    if (compiled == MCPX_ENOMEM)
        return compiled;
    err = check_roots(making); /* the targets of references */
    return err || !compiled ? err : refuse_noted(making);
}

static enum mcpx_err make(struct making *making, struct mcpx_slice uri, struct mcpx_slice text,
                          struct mcpx_schema **out)
{
    struct mcpx_schema *schema = calloc(1, sizeof *schema);
    const struct mx_compiled_schema *program;
    enum mcpx_err err = MCPX_ENOMEM;

    if (!schema)
        return err;
    program = &schema->program;
    making->report->count = 0;
    schema->references = 1;
    schema->dialect = making->options->dialect;
    making->build.library = &making->library;
    making->build.program = &schema->program;
    mx_uri_cut(&uri);
    if (mx_library_init(&making->library, making->options, text))
        err = fill(making, uri, text);
    mx_build_fini(&making->build);
    mx_library_fini(&making->library);
    if (err) {
        mcpx_schema_unref(schema);
        return err;
    }
    schema->bytes =
        sizeof *schema + program->arena.bytes + program->unit_count * sizeof *program->units +
        program->op_count * sizeof *program->ops +
        program->regex_count * sizeof *program->regexes + program->regex_sums.memory +
        program->constants.room * sizeof *program->constants.nodes;
    *out = schema;
    return MCPX_OK;
}

/* Bytes of compiled schemas: on the shelf, and held by all tools. */
enum { SHELF_BYTES_MAX = 64 * 1024 * 1024 };

struct mcpx_shelf *mcpx_shelf_new(void)
{
    MX_SCOPED(mcpx_schema_report_fini) struct mcpx_schema_report report = {0};
    struct mcpx_shelf *shelf = calloc(1, sizeof *shelf);
    enum mcpx_err err = MCPX_OK;

    if (!shelf)
        return NULL;
    shelf->held = (struct mx_holders){
        .key = {{1, 2}}, .cap = MCPX_SCHEMA_SHARE, .total = SHELF_BYTES_MAX};
    for (int i = 0; i < MX_DIALECTS && !err; i++) {
        const struct mx_builtin *meta = mx_builtin_meta((enum mcpx_dialect)i);
        struct mcpx_schema_options options = {.uri = meta->uri};
        struct making making = {shelf->metas, &options, &report, .depth = 0};

        err = make(&making, meta->uri, meta->text, &shelf->metas[i]);
    }
    if (!err)
        return shelf;
    mcpx_shelf_free(shelf);
    return NULL;
}

void mcpx_shelf_free(struct mcpx_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->count; i++)
        mcpx_schema_unref(shelf->schemas[i]);
    for (int i = 0; i < MX_DIALECTS; i++)
        mcpx_schema_unref(shelf->metas[i]);
    mx_holders_fini(&shelf->held);
    free(shelf->schemas);
    free(shelf);
}

size_t mcpx_shelf_count(const struct mcpx_shelf *shelf)
{
    return shelf->count;
}

size_t mcpx_shelf_bytes(const struct mcpx_shelf *shelf)
{
    return shelf->bytes;
}

/* Finds the schema in a larger text; the rest of the text is ignored. */
static enum mcpx_err cut(struct mcpx_slice *text, struct mcpx_slice pointer,
                         struct mcpx_schema_report *report)
{
    struct mcpx_fault fault = {"must have one value at the pointer", "", 0};
    MX_SCOPED(mx_tree_fini) struct mx_tree tree = {0};
    enum mcpx_err err = mx_tree_read(&tree, *text, &fault);
    uint32_t node;

    if (!err && mx_tree_point(&tree, 0, pointer, &node))
        *text = mx_tree_bytes(&tree, node);
    else if (err != MCPX_ENOMEM)
        err = mx_report_error(report, mx_error("", "json", fault.reason));
    return err;
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

/* Puts a schema on the shelf with a reference of its own; does nothing without memory. */
static void put(struct mcpx_shelf *shelf, struct mcpx_schema *schema)
{
    if (!mx_make_room(&shelf->schemas, shelf->count, &shelf->room, sizeof schema))
        return;
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
    MX_SCOPED(mcpx_schema_report_fini) struct mcpx_schema_report unread = {0};
    char fingerprint[MCPX_SHA256_LEN + 1] = "";
    struct mcpx_schema *schema;
    struct making making;
    bool is_kept;
    enum mcpx_err err;

    if (!options)
        options = &defaults;
    if (!report)
        report = &unread;
    err = options->pointer.len ? cut(&text, options->pointer, report) : MCPX_OK;
    /* A text without a fingerprint is refused below, with the reason. */
    is_kept = !err && text.len <= MCPX_SCHEMA_BYTES_MAX &&
              mcpx_digest_json(text, fingerprint, NULL) == MCPX_OK && !options->find &&
              options->uri.len == 0;
    if (is_kept) {
        size_t place = find(shelf, fingerprint, options->dialect);

        if (place < shelf->count) {
            schema = take(shelf, place);
            put(shelf, schema);
            *out = schema;
            return MCPX_OK;
        }
    }
    making = (struct making){shelf->metas, options, report, .depth = 0};
    if (!err)
        err = make(&making, options->uri, text, &schema);
    if (err)
        return err;
    memcpy(schema->fingerprint, fingerprint, sizeof schema->fingerprint);
    if (is_kept)
        put(shelf, schema);
    *out = schema;
    return MCPX_OK;
}
