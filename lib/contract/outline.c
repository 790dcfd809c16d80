/*
 * outline.c - what `tools/list` says of a tool whose answers are wrapped. Clients that check
 * answers would throw away every envelope that the tool's own schema does not know. They are told
 * an outline: some of them know one dialect only, and take no schema that is not an object.
 * The names of forms and tiers are here too; rows are the macros of the public header.
 */
#include <mcpx/json.h>
#include <mcpx/wrap.h>

#define NAME_ROW(constant, name) [constant] = (name),
static const char *const forms[MCPX_FORM_COUNT] = {MCPX_FORMS(NAME_ROW)};
static const char *const tiers[MCPX_TIER_COUNT] = {MCPX_TIERS(NAME_ROW)};

const char *mcpx_form_name(enum mcpx_form form)
{
    return (unsigned)form < MCPX_FORM_COUNT ? forms[form] : NULL;
}

bool mcpx_form_find(struct mcpx_slice name, enum mcpx_form *out)
{
    for (int form = 0; form < MCPX_FORM_COUNT; form++) {
        if (!mcpx_slice_equal(name, mcpx_slice_of(forms[form])))
            continue;
        *out = (enum mcpx_form)form;
        return true;
    }
    return false;
}

const char *mcpx_tier_name(enum mcpx_tier tier)
{
    return (unsigned)tier < MCPX_TIER_COUNT ? tiers[tier] : NULL;
}

bool mcpx_tier_find(struct mcpx_slice name, enum mcpx_tier *out)
{
    for (int tier = 0; tier < MCPX_TIER_COUNT; tier++) {
        if (!mcpx_slice_equal(name, mcpx_slice_of(tiers[tier])))
            continue;
        *out = (enum mcpx_tier)tier;
        return true;
    }
    return false;
}

static const char envelope[] =
    "{\"type\":\"object\",\"required\":[\"schema_version\",\"result\"],\"properties\":{"
    "\"schema_version\":{\"type\":\"string\"},\"result\":{},"
    "\"provenance\":{\"type\":[\"object\",\"null\"]},\"errors\":{\"type\":\"array\"},"
    "\"warnings\":{\"type\":\"array\"},\"meta\":{\"type\":\"object\"}}}";

static const char response[] =
    "{\"type\":\"object\",\"required\":[\"tier\",\"tool_version\",\"tool_id\",\"request_id\","
    "\"capabilities\",\"error\",\"upgrade_hints\",\"data\"],\"properties\":{"
    "\"tier\":{\"type\":\"string\"},\"tool_version\":{\"type\":\"string\"},"
    "\"tool_id\":{\"type\":\"string\"},\"request_id\":{\"type\":\"string\"},"
    "\"capabilities\":{\"type\":\"array\"},\"duration_ms\":{\"type\":\"number\"},"
    "\"error\":{\"type\":[\"object\",\"null\"]},\"upgrade_hints\":{\"type\":\"array\"},"
    "\"data\":{}}}";

/* Appends `_meta` with the tool's own schema in it. */
static void add_meta(struct mcpx_text *out, struct mcpx_slice meta, struct mcpx_slice schema)
{
    struct mcpx_json_change change = {MCPX_OUTPUT_SCHEMA_MEMBER, schema};
    struct mcpx_slice none = MCPX_SLICE("{}");

    mcpx_json_add_changed(out, mcpx_json_type(meta) == MCPX_JSON_OBJECT ? meta : none, &change,
                          1);
}

void mcpx_wrap_tool(struct mcpx_text *out, struct mcpx_slice tool, enum mcpx_form form)
{
    struct mcpx_slice outline =
        mcpx_slice_of(form == MCPX_FORM_RESPONSE ? response : envelope);
    struct mcpx_slice own = mcpx_json_get(tool, "outputSchema");
    struct mcpx_json_change changes[2] = {{"outputSchema", outline}, {"_meta", {NULL, 0}}};
    struct mcpx_text meta = {0};

    if (mcpx_json_type(tool) != MCPX_JSON_OBJECT || mcpx_slice_equal(own, outline) ||
        (form != MCPX_FORM_ENVELOPE && form != MCPX_FORM_RESPONSE)) {
        mcpx_text_slice(out, tool);
        return;
    }
    if (own.text) {
        add_meta(&meta, mcpx_json_get(tool, "_meta"), own);
        changes[1].value = mcpx_text_view(&meta);
    }
    mcpx_json_add_changed(out, tool, changes, own.text ? 2 : 1);
    out->failed = out->failed || meta.failed;
    mcpx_text_fini(&meta);
}
