/*
 * fingerprints.c - a fingerprint is the SHA-256 of a schema's canonical form, so it is the same for
 * a schema that is written in another way.
 */
#include "tools/mcpxctl/gate/fingerprints.h"

#include "lib/core/format.h"
#include <mcpx/digest.h>
#include <mcpx/wrap.h>

static struct mcpx_slice output_schema(struct mcpx_slice tool)
{
    struct mcpx_slice own =
        mcpx_json_get(mcpx_json_get(tool, "_meta"), MCPX_OUTPUT_SCHEMA_MEMBER);

    return own.text ? own : mcpx_json_get(tool, "outputSchema");
}

static enum mcpx_err add_tool(struct mcpx_text *out, struct mcpx_slice tool)
{
    struct mcpx_slice name = mcpx_json_get(tool, "name");
    struct mcpx_slice input = mcpx_json_get(tool, "inputSchema");
    struct mcpx_slice output = output_schema(tool);
    char sum[MCPX_SHA256_LEN + 1];
    enum mcpx_err err;

    if (mcpx_json_type(name) != MCPX_JSON_STRING || !input.text)
        return MCPX_EINVALID;
    err = mcpx_digest_json(input, sum, NULL);
    if (!err)
        mx_format(out, "%s%s:{\"input\":\"sha256:%s\",", out->len > 1 ? "," : "", name, sum);
    if (!err && output.text)
        err = mcpx_digest_json(output, sum, NULL);
    if (!err && output.text)
        mx_format(out, "\"output\":\"sha256:%s\"}", sum);
    else if (!err)
        mcpx_text_puts(out, "\"output\":null}");
    return err;
}

enum mcpx_err fingerprints_add(struct mcpx_text *out, struct mcpx_slice tools,
                               struct mcpx_slice *tool)
{
    struct mcpx_text list = {0};
    struct mcpx_json_walk walk;
    enum mcpx_err err = MCPX_OK;

    mcpx_text_puts(&list, "{");
    mcpx_json_walk_start(&walk, tools);
    while (!err && mcpx_json_walk_next(&walk)) {
        *tool = walk.value;
        err = add_tool(&list, walk.value);
    }
    mcpx_text_puts(&list, "}");
    if (!err && list.failed)
        err = MCPX_ENOMEM;
    if (!err)
        err = mcpx_canonical_add(out, mcpx_text_view(&list), NULL);
    mcpx_text_fini(&list);
    return err;
}

/* The member whose name has these bytes; the names of both documents are canonical. */
static struct mcpx_slice find(struct mcpx_slice object, struct mcpx_slice name)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    while (mcpx_json_walk_next(&walk))
        if (mcpx_slice_equal(walk.name, name))
            return walk.value;
    return (struct mcpx_slice){NULL, 0};
}

static void tell(struct mcpx_text *out, struct mcpx_slice name, const char *what)
{
    mx_format(out, "%s%s%s", out->len > 0 ? "; " : "", name, what);
}

static void tell_change(struct mcpx_text *out, struct mcpx_slice name, struct mcpx_slice was,
                        struct mcpx_slice is)
{
    static const char *const schemas[][2] = {{"input", ": its input schema changed"},
                                             {"output", ": its output schema changed"}};

    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (!mcpx_json_same(mcpx_json_get(was, schemas[i][0]),
                            mcpx_json_get(is, schemas[i][0])))
            tell(out, name, schemas[i][1]);
}

bool fingerprints_equal(struct mcpx_text *out, struct mcpx_slice was, struct mcpx_slice is)
{
    struct mcpx_text old = {0};
    struct mcpx_json_walk walk;
    bool equal;

    if (mcpx_canonical_add(&old, was, NULL) != MCPX_OK) {
        mcpx_text_puts(out, "what was written down is ambiguous");
        mcpx_text_fini(&old);
        return false;
    }
    was = mcpx_text_view(&old);
    equal = mcpx_slice_equal(was, is);
    mcpx_json_walk_start(&walk, is);
    while (mcpx_json_walk_next(&walk)) {
        struct mcpx_slice before = find(was, walk.name);

        if (!before.text)
            tell(out, walk.name, ": the tool was added");
        else
            tell_change(out, walk.name, before, walk.value);
    }
    mcpx_json_walk_start(&walk, was);
    while (mcpx_json_walk_next(&walk))
        if (!find(is, walk.name).text)
            tell(out, walk.name, ": the tool is gone");
    mcpx_text_fini(&old);
    return equal;
}
