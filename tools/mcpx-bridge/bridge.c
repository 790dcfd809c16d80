/*
 * bridge.c - the few texts of JSON-RPC that a bridge writes itself. They are composed rather than
 * built as values, because ids and data are raw JSON that must keep its bytes.
 * Includes bridge.h only.
 */
#include "tools/mcpx-bridge/bridge.h"

static void add_id(struct mcpx_text *out, struct mcpx_slice id)
{
    mcpx_text_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    mcpx_text_slice(out, id.text ? id : MCPX_SLICE("null"));
}

void bridge_add_error(struct mcpx_text *out, struct mcpx_slice id, int code,
                      struct mcpx_slice message, struct mcpx_slice data)
{
    add_id(out, id);
    mcpx_text_puts(out, ",\"error\":{\"code\":");
    mcpx_text_number(out, code);
    mcpx_text_puts(out, ",");
    mcpx_json_add_member(out, "message", message);
    if (data.text) {
        mcpx_text_puts(out, ",\"data\":");
        mcpx_text_slice(out, data);
    }
    mcpx_text_puts(out, "}}");
}

void bridge_add_result(struct mcpx_text *out, struct mcpx_slice id, struct mcpx_slice result)
{
    add_id(out, id);
    mcpx_text_puts(out, ",\"result\":");
    mcpx_text_slice(out, result);
    mcpx_text_puts(out, "}");
}

bool bridge_number(struct mcpx_slice value, int64_t *out)
{
    int64_t number = 0;

    if (value.len == 0 || value.len > 18)
        return false;
    for (size_t i = 0; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9')
            return false;
        number = number * 10 + (value.text[i] - '0');
    }
    *out = number;
    return true;
}
