/*
 * derive.c - the router never opens a payload, so what a short response answers can only come
 * from the kind of the request it names. The completed kind is what is matched, delivered and
 * kept: see docs/adr/0005.
 * Includes derive.h only.
 */
#include "router/hub/derive.h"

/* Who may be completed from whom: protocol section 4, one row per rule. */
static const struct {
    const char *type;
    const char *original;
} rules[] = {
    {"mcp/response", "mcp/request"},
    {"mcp/request", "mcp/proposal"},
};

static const char *original_type(struct mcpx_slice type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (mcpx_slice_equal(type, mcpx_slice_of(rules[i].type)))
            return rules[i].original;
    return NULL;
}

bool derive_kind(const struct log *log, struct mcpx_slice correlation, struct mcpx_kind *kind,
                 struct mcpx_text *text)
{
    struct mcpx_kind original, completed;
    const char *type;
    uint64_t serial;

    if (!correlation.text || !kind->method.text || kind->context.text)
        return false;
    type = original_type(kind->type);
    if (!type || !log_find(log, correlation, &serial))
        return false;
    if (mcpx_kind_parse(entry_kind(log_entry(log, serial)), &original, NULL) != MCPX_OK)
        return false;
    if (!mcpx_slice_equal(original.type, mcpx_slice_of(type)) || !original.context.text ||
        !mcpx_slice_equal(original.method, kind->method))
        return false;
    mcpx_text_reset(text);
    mcpx_text_slice(text, kind->text);
    mcpx_text_add(text, ":", 1);
    mcpx_text_slice(text, original.context);
    /* "mcp/response" is a byte longer than "mcp/request": the longest request stays short. */
    if (text->failed || mcpx_kind_parse(mcpx_text_view(text), &completed, NULL) != MCPX_OK)
        return false;
    *kind = completed;
    return true;
}
