/*
 * dialect.c - two dialects are built in. Others are made of the vocabularies of 2020-12 by a meta-
 * schema that the caller has; one that asks for a vocabulary that is not here cannot be used,
 * because leaving out what it asks for would let pass what it forbids.
 */
#include "lib/contract/dialect.h"
#include "lib/contract/tree_find.h"
#include "lib/contract/tree_read.h"

static const char unknown[] = "must be a dialect that is known here: 2020-12 or draft-07";
static const char lacking[] = "must not require a vocabulary that is not known here";

/* Meta-schemas that are based on each other: more are taken for a circle. */
enum { BASES_MAX = 8 };

#define VOCABULARY "https://json-schema.org/draft/2020-12/vocab/"
static const struct {
    struct mcpx_slice uri;
    uint8_t bit;
} vocabularies[] = {
    {{VOCABULARY "core", sizeof VOCABULARY "core" - 1}, MX_VOCABULARY_CORE},
    {{VOCABULARY "applicator", sizeof VOCABULARY "applicator" - 1}, MX_VOCABULARY_APPLICATOR},
    {{VOCABULARY "unevaluated", sizeof VOCABULARY "unevaluated" - 1},
     MX_VOCABULARY_UNEVALUATED},
    {{VOCABULARY "validation", sizeof VOCABULARY "validation" - 1}, MX_VOCABULARY_VALIDATION},
    {{VOCABULARY "meta-data", sizeof VOCABULARY "meta-data" - 1}, MX_VOCABULARY_OTHER},
    {{VOCABULARY "format-annotation", sizeof VOCABULARY "format-annotation" - 1},
     MX_VOCABULARY_OTHER},
    {{VOCABULARY "content", sizeof VOCABULARY "content" - 1}, MX_VOCABULARY_OTHER},
};

struct mx_dialect mx_dialect_default(enum mcpx_dialect dialect)
{
    struct mx_dialect known = {
        {MX_DRAFT_2020_12, MX_VOCABULARY_ALL}, NULL, {NULL, 0}, {NULL, 0}};

    if (dialect == MCPX_DIALECT_DRAFT_07)
        known.manner.draft = MX_DRAFT_07;
    known.meta = mx_builtin_meta(dialect);
    known.uri = known.meta->uri;
    return known;
}

/* A trailing "#" is none of the name. */
static struct mcpx_slice without_hash(struct mcpx_slice uri)
{
    if (uri.len && uri.text[uri.len - 1] == '#')
        uri.len--;
    return uri;
}

static bool find_builtin(struct mcpx_slice uri, struct mx_dialect *out)
{
    for (int i = MCPX_DIALECT_2020_12; i <= MCPX_DIALECT_DRAFT_07; i++) {
        struct mx_dialect known = mx_dialect_default((enum mcpx_dialect)i);

        if (mcpx_slice_equal(known.uri, uri)) {
            *out = known;
            return true;
        }
    }
    return false;
}

/* The bit of a vocabulary; 0 when it is not known. */
static uint8_t vocabulary_bit(const struct mx_tree *tree, uint32_t name)
{
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++) {
        if (mx_tree_is(tree, name, vocabularies[i].uri))
            return vocabularies[i].bit;
    }
    return 0;
}

/* Reads `$vocabulary` of a meta-schema. */
static bool read_vocabularies(const struct mx_tree *tree, uint32_t object,
                              struct mx_manner *manner)
{
    manner->vocabularies = MX_VOCABULARY_CORE;
    if (mx_tree_type(tree, object) != MCPX_JSON_OBJECT)
        return false;
    for (uint32_t at = object + 1; at < mx_tree_end(tree, object);
         at = mx_tree_next(tree, at + 1)) {
        uint8_t bit = vocabulary_bit(tree, at);

        if (bit == 0 && tree->text.text[tree->nodes[at + 1].begin] == 't')
            return false;
        manner->vocabularies |= bit;
    }
    return true;
}

/* Finds the meta-schema whose URI stands in `uri`, and puts there what it is based on itself. */
static bool read_meta(struct mcpx_text *uri, const struct mcpx_schema_options *options,
                      struct mx_tree *tree, struct mcpx_slice *text)
{
    uint32_t base;

    if (!options->find || !options->find(options->context, mcpx_text_view(uri), text) ||
        mx_tree_read(tree, *text, NULL) || tree->ambiguous ||
        mx_tree_type(tree, 0) != MCPX_JSON_OBJECT)
        return false;
    base = mx_tree_member(tree, 0, MCPX_SLICE("$schema"));
    mcpx_text_reset(uri);
    if (base && mx_tree_type(tree, base) == MCPX_JSON_STRING)
        mx_tree_unescape(tree, base, uri);
    if (uri->len && uri->text[uri->len - 1] == '#')
        uri->len--;
    return !uri->failed;
}

/* Follows meta-schemas to a built-in one. */
static bool follow(struct mcpx_text *uri, const struct mcpx_schema_options *options,
                   struct mx_dialect *out, const char **reason)
{
    struct mx_dialect base = mx_dialect_default(options->dialect);
    struct mx_manner own = {0, 0};
    struct mx_tree tree = {0};
    bool found = false, good = true;

    for (int i = 0; i < BASES_MAX && good && !found; i++) {
        struct mcpx_slice text;
        uint32_t asked = 0;

        good = read_meta(uri, options, &tree, &text);
        if (!good)
            break;
        if (i == 0) {
            out->text = text;
            asked = mx_tree_member(&tree, 0, MCPX_SLICE("$vocabulary"));
        }
        if (asked && !read_vocabularies(&tree, asked, &own)) {
            *reason = lacking;
            good = false;
        }
        found = uri->len == 0 || find_builtin(mcpx_text_view(uri), &base);
    }
    mx_tree_fini(&tree);
    out->manner = base.manner;
    if (own.vocabularies && base.manner.draft == MX_DRAFT_2020_12)
        out->manner.vocabularies = own.vocabularies;
    return good && found;
}

bool mx_dialect_find(struct mcpx_slice uri, const struct mcpx_schema_options *options,
                     struct mx_dialect *out, const char **reason)
{
    struct mx_dialect dialect = {{0, 0}, NULL, {NULL, 0}, {NULL, 0}};
    struct mcpx_text name = {0};
    bool found;

    dialect.uri = without_hash(uri);
    *reason = unknown;
    if (find_builtin(dialect.uri, out))
        return true;
    mcpx_text_slice(&name, dialect.uri);
    found = follow(&name, options, &dialect, reason);
    mcpx_text_fini(&name);
    if (found)
        *out = dialect;
    return found;
}
