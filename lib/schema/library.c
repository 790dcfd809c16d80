/*
 * library.c - the parts of a schema: its dialects, its keywords, resources by their URI, anchors by
 * resource and name. The author of a schema chooses its names, so their hashes have a secret key;
 * keywords are found by the hashes in the indexed text. Two dialects are built in. A meta-schema of
 * the caller can make others from the vocabularies of 2020-12. A meta-schema with an unknown
 * vocabulary is refused: ignoring it would admit values forbidden by it.
 */
#include "lib/schema/library.h"

#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/json/digest.h"
#include "lib/json/escape.h"
#include "lib/json/tree.h"

const struct mx_builtin *mx_builtin_find(struct mcpx_slice uri)
{
    for (const struct mx_builtin *builtin = mx_metas; builtin->uri.text; builtin++) {
        if (mcpx_slice_equal(builtin->uri, uri))
            return builtin;
    }
    return NULL;
}

const struct mx_builtin *mx_builtin_meta(enum mcpx_dialect dialect)
{
    return mx_builtin_find(dialect == MCPX_DIALECT_DRAFT_07
                               ? MCPX_SLICE("http://json-schema.org/draft-07/schema")
                               : MCPX_SLICE("https://json-schema.org/draft/2020-12/schema"));
}

#define ROW(constant, name, drafts, vocabulary, shape)                                        \
    {{name, sizeof(name) - 1}, drafts, MX_VOCABULARY_##vocabulary, MX_SHAPE_##shape},
const struct mx_keyword_row mx_keywords[MX_KEY_COUNT] = {MX_KEYWORDS(ROW)};
#undef ROW

/* The keyword of a name; MX_KEY_COUNT: none. */
static size_t find_keyword(const struct mx_library *library, const struct mx_tree *tree,
                           uint32_t name)
{
    size_t key = 0;

    while (key < MX_KEY_COUNT && (library->hashes[key] != tree->nodes[name].hash ||
                                  !mx_tree_is(tree, name, mx_keywords[key].name)))
        key++;
    return key;
}

void mx_library_keywords(const struct mx_library *library, const struct mx_tree *tree,
                         uint32_t schema, struct mx_manner manner,
                         uint32_t value[MX_KEY_COUNT])
{
    bool only_ref = manner.draft == MX_DRAFT_07 &&
                    mx_tree_member(tree, schema, mx_keywords[MX_KEY_REF].name);

    memset(value, 0, MX_KEY_COUNT * sizeof *value);
    MX_EACH_MEMBER(at, tree, schema) {
        size_t key = find_keyword(library, tree, at);

        if (key == MX_KEY_COUNT || !(mx_keywords[key].drafts & manner.draft) ||
            !(mx_keywords[key].vocabulary & manner.vocabularies))
            continue;
        /* Other keywords beside `$ref` are ignored, except definitions, targets of references. */
        if (!only_ref || key == MX_KEY_REF || mx_keywords[key].shape == MX_SHAPE_DEFINITIONS)
            value[key] = at + 1;
    }
}

/* Limit of meta-schemas based on each other: more count as a cycle. */
enum { BASES_MAX = 8 };

#define VOCABULARY "https://json-schema.org/draft/2020-12/vocab/"
static const struct {
    const char *uri;
    uint8_t bit;
} vocabularies[] = {
    {VOCABULARY "core", MX_VOCABULARY_CORE},
    {VOCABULARY "applicator", MX_VOCABULARY_APPLICATOR},
    {VOCABULARY "unevaluated", MX_VOCABULARY_UNEVALUATED},
    {VOCABULARY "validation", MX_VOCABULARY_VALIDATION},
    {VOCABULARY "meta-data", MX_VOCABULARY_OTHER},
    {VOCABULARY "format-annotation", MX_VOCABULARY_OTHER},
    {VOCABULARY "content", MX_VOCABULARY_OTHER},
};

struct mx_dialect mx_dialect_default(enum mcpx_dialect dialect)
{
    bool is_07 = dialect == MCPX_DIALECT_DRAFT_07;

    return (struct mx_dialect){
        .manner = {is_07 ? MX_DRAFT_07 : MX_DRAFT_2020_12, MX_VOCABULARY_ALL},
        .uri = mx_builtin_meta(dialect)->uri};
}

/* Schemas name either dialect with http or https; draft-07 only adds to draft-06. */
static bool find_builtin(struct mcpx_slice uri, struct mx_dialect *out)
{
    static const char *const names[] = {"://json-schema.org/draft/2020-12/schema",
                                        "://json-schema.org/draft-07/schema",
                                        "://json-schema.org/draft-06/schema", NULL};
    size_t scheme = uri.len > 5 && memcmp(uri.text, "https", 5) == 0 ? 5 : 4, i = 0;

    if (uri.len < scheme || memcmp(uri.text, "http", 4) != 0)
        return false;
    uri = (struct mcpx_slice){uri.text + scheme, uri.len - scheme};
    while (names[i] && !mcpx_slice_equal(mcpx_slice_of(names[i]), uri))
        i++;
    if (names[i])
        *out = mx_dialect_default(i == 0 ? MCPX_DIALECT_2020_12 : MCPX_DIALECT_DRAFT_07);
    return names[i];
}

/* The bit of a vocabulary; 0 when it is not known. */
static uint8_t vocabulary_bit(const struct mx_tree *tree, uint32_t name)
{
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++) {
        if (mx_tree_is(tree, name, mcpx_slice_of(vocabularies[i].uri)))
            return vocabularies[i].bit;
    }
    return 0;
}

static bool read_vocabularies(const struct mx_tree *tree, uint32_t object,
                              struct mx_manner *manner)
{
    manner->vocabularies = MX_VOCABULARY_CORE;
    if (mx_tree_type(tree, object) != MCPX_JSON_OBJECT)
        return false;
    MX_EACH_MEMBER(at, tree, object) {
        uint8_t bit = vocabulary_bit(tree, at);

        if (bit == 0 && tree->text.text[tree->nodes[at + 1].begin] == 't')
            return false;
        manner->vocabularies |= bit;
    }
    return true;
}

/* Finds the meta-schema of `uri`, and replaces `uri` by that of its own meta-schema. */
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
    MX_SCOPED(mx_tree_fini) struct mx_tree tree = {0};

    for (int i = 0; i < BASES_MAX; i++) {
        struct mcpx_slice text;
        uint32_t asked = 0;

        if (!read_meta(uri, options, &tree, &text))
            return false;
        if (i == 0) {
            out->text = text;
            asked = mx_tree_member(&tree, 0, MCPX_SLICE("$vocabulary"));
        }
        if (asked && !read_vocabularies(&tree, asked, &own)) {
            *reason = "must not require a vocabulary that is not known here";
            return false;
        }
        if (uri->len > 0 && !find_builtin(mcpx_text_view(uri), &base))
            continue;
        out->manner = base.manner;
        if (own.vocabularies && base.manner.draft == MX_DRAFT_2020_12)
            out->manner.vocabularies = own.vocabularies;
        return true;
    }
    return false;
}

bool mx_dialect_find(struct mcpx_slice uri, const struct mcpx_schema_options *options,
                     struct mx_dialect *out, const char **reason)
{
    struct mx_dialect dialect = {.uri = uri};
    mx_scoped_text name = {0};

    if (uri.len && uri.text[uri.len - 1] == '#')
        dialect.uri.len--; /* none of the name */
    *reason = "must be a dialect that is known here: 2020-12 or draft-07";
    if (find_builtin(dialect.uri, out))
        return true;
    mcpx_text_slice(&name, dialect.uri);
    if (!follow(&name, options, &dialect, reason))
        return false;
    *out = dialect;
    return true;
}

/* Some nanoseconds each. */
enum { WORK_MAX = 4000000 };

bool mx_library_refuse(struct mx_library *library, struct mx_place place, const char *keyword,
                       const char *reason)
{
    if (library->err)
        return false;
    library->err = MCPX_EINVALID;
    library->place = place;
    library->keyword = keyword;
    library->reason = reason;
    return false;
}

bool mx_library_spend(struct mx_library *library, struct mx_place place, uint64_t work)
{
    library->work += work;
    return library->work <= WORK_MAX ||
           mx_library_refuse(library, place, "bounds",
                             "must not need more than 4000000 steps to be compiled");
}

bool mx_library_starve(struct mx_library *library)
{
    library->err = MCPX_ENOMEM;
    return false;
}

struct mcpx_slice mx_library_text(struct mx_library *library, struct mx_arena *arena,
                                  const struct mx_tree *tree, uint32_t node)
{
    char *plain = mx_arena_take(arena, tree->nodes[node].end - tree->nodes[node].begin);
    struct mcpx_slice text = {plain, 0};

    if (plain)
        mx_unescape(mx_tree_inside(tree, node), plain, &text.len);
    else
        mx_library_starve(library);
    return text;
}

bool mx_library_init(struct mx_library *library, const struct mcpx_schema_options *options,
                     struct mcpx_slice text)
{
    unsigned char digest[MX_SHA256_BYTES] = {0};
    bool is_made = mx_sha256(text, digest);

    memcpy(&library->key, digest, sizeof library->key);
    library->options = options;
    for (size_t i = 0; i < MX_KEY_COUNT; i++)
        library->hashes[i] = mx_name_hash(mx_keywords[i].name);
    return is_made;
}

void mx_library_fini(struct mx_library *library)
{
    for (uint32_t i = 0; i < library->document_count; i++) {
        mx_tree_fini(&library->documents[i].tree);
        free(library->documents[i].resource_of);
        free(library->documents[i].unit_of);
    }
    free(library->documents);
    free(library->resources);
    free(library->roots);
    mx_map_fini(&library->names);
    mx_arena_fini(&library->arena);
}

static uint64_t hash_of(const struct mx_library *library, uint32_t of, struct mcpx_slice name)
{
    return mx_map_hash(library->key, name) + of * UINT64_C(0x9e3779b97f4a7c15);
}

uint32_t mx_library_find(const struct mx_library *library, uint32_t of, struct mcpx_slice name)
{
    uint64_t hash = hash_of(library, of, name), value;
    size_t at = 0;

    while ((value = mx_map_next(&library->names, hash, &at)) != 0) {
        const struct mx_resource *resource = &library->resources[value - 1];

        if (resource->of == of && mcpx_slice_equal(resource->name, name))
            return (uint32_t)(value - 1);
    }
    return MX_NONE;
}

/* Two names of one resource are two resources at one place. */
bool mx_library_add_resource(struct mx_library *library, struct mx_resource resource,
                             uint32_t value)
{
    uint32_t known = mx_library_find(library, resource.of, resource.name);

    if (known != MX_NONE &&
        memcmp(&library->resources[known].place, &resource.place, sizeof resource.place) != 0)
        return mx_library_refuse(library, (struct mx_place){resource.place.document, value},
                                 resource.of == MX_NONE ? "$id" : "$anchor",
                                 "must not be the name of another schema too");
    if (!mx_make_room(&library->resources, library->resource_count, &library->resource_room,
                      sizeof resource) ||
        !mx_map_reserve(&library->names))
        return mx_library_starve(library);
    library->resources[library->resource_count++] = resource;
    mx_map_put(&library->names, hash_of(library, resource.of, resource.name),
               library->resource_count);
    return true;
}

bool mx_library_add_root(struct mx_library *library, struct mx_place place, uint32_t resource)
{
    if (!mx_make_room(&library->roots, library->root_count, &library->root_room,
                      sizeof *library->roots))
        return mx_library_starve(library);
    library->documents[place.document].resource_of[place.node] = resource;
    library->roots[library->root_count++] = place;
    return true;
}
