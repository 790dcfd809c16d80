/*
 * rewrite.c - the few bytes of a message that may not pass a pipe shared by many: ids and
 * progress tokens, which every participant counts from 0 for itself. Everything else keeps its
 * bytes; a JSON library would round numbers and drop duplicates.
 */
#include "tools/mcpx-bridge/import/rewrite.h"

#include "lib/core/format.h"

#include <inttypes.h>
#include <stdio.h>

#define META "io.modelcontextprotocol/"

static struct mcpx_slice number(char buf[24], int64_t value)
{
    int len = snprintf(buf, 24, "%" PRId64, value);

    return (struct mcpx_slice){buf, (size_t)len};
}

const char *import_params_fault(struct mcpx_slice params)
{
    enum mcpx_json_type token =
        mcpx_json_type(mcpx_json_get(mcpx_json_get(params, "_meta"), "progressToken"));

    if (token != MCPX_JSON_ABSENT && token != MCPX_JSON_STRING && token != MCPX_JSON_NUMBER)
        return "params._meta.progressToken is neither a string nor a number";
    return NULL;
}

void import_add_meta(struct mcpx_text *out, const char *version, const char *capabilities)
{
    mx_format(out,
              "\"_meta\":{\"" META "protocolVersion\":%q,\"" META
              "clientInfo\":" IMPORT_CLIENT_INFO ",\"" META "clientCapabilities\":%s}",
              version, mcpx_version(), capabilities);
}

/* Appends `meta`, or a new one, with our token for theirs and what a server of 2026 wants. */
static void add_changed_meta(struct mcpx_text *out, struct mcpx_slice meta, int64_t id,
                             const char *version, const char *capabilities)
{
    struct mcpx_text quoted = {0}, info = {0};
    struct mcpx_json_change changes[4];
    size_t count = 0;
    char token[24];

    if (mcpx_json_get(meta, "progressToken").text)
        changes[count++] = (struct mcpx_json_change){"progressToken", number(token, id)};
    if (version && !mcpx_json_get(meta, META "protocolVersion").text) {
        mcpx_json_add_string(&quoted, mcpx_slice_of(version));
        changes[count++] =
            (struct mcpx_json_change){META "protocolVersion", mcpx_text_view(&quoted)};
    }
    if (version && !mcpx_json_get(meta, META "clientInfo").text) {
        mx_format(&info, IMPORT_CLIENT_INFO, mcpx_version());
        changes[count++] = (struct mcpx_json_change){META "clientInfo", mcpx_text_view(&info)};
    }
    if (version && !mcpx_json_get(meta, META "clientCapabilities").text)
        changes[count++] =
            (struct mcpx_json_change){META "clientCapabilities", mcpx_slice_of(capabilities)};
    mcpx_json_add_changed(out, meta.text ? meta : MCPX_SLICE("{}"), changes, count);
    out->failed = out->failed || quoted.failed || info.failed;
    mcpx_text_fini(&quoted);
    mcpx_text_fini(&info);
}

void import_add_request(struct mcpx_text *out, struct mcpx_slice payload, int64_t id,
                        const char *version, const char *capabilities)
{
    struct mcpx_slice params = mcpx_json_get(payload, "params");
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");
    enum mcpx_json_type meta_type = mcpx_json_type(meta);
    bool usable = mcpx_json_type(params) != MCPX_JSON_ARRAY &&
                  (meta_type == MCPX_JSON_ABSENT || meta_type == MCPX_JSON_OBJECT);
    struct mcpx_text new_meta = {0}, new_params = {0};
    struct mcpx_json_change changes[2];
    char buf[24];

    changes[0] = (struct mcpx_json_change){"id", number(buf, id)};
    if (!usable || (!version && !mcpx_json_get(meta, "progressToken").text)) {
        mcpx_json_add_changed(out, payload, changes, 1);
        return;
    }
    add_changed_meta(&new_meta, meta, id, version, capabilities);
    changes[1] = (struct mcpx_json_change){"_meta", mcpx_text_view(&new_meta)};
    mcpx_json_add_changed(&new_params, params.text ? params : MCPX_SLICE("{}"), &changes[1],
                          1);
    changes[1] = (struct mcpx_json_change){"params", mcpx_text_view(&new_params)};
    mcpx_json_add_changed(out, payload, changes, 2);
    out->failed = out->failed || new_meta.failed || new_params.failed;
    mcpx_text_fini(&new_meta);
    mcpx_text_fini(&new_params);
}

void import_add_with_param(struct mcpx_text *out, struct mcpx_slice message,
                           struct mcpx_slice params, const char *name, struct mcpx_slice value)
{
    struct mcpx_json_change changes[2] = {{name, value}};
    struct mcpx_text new_params = {0};
    size_t count = 1;

    mcpx_json_add_changed(&new_params, params, changes, 1);
    changes[0] = (struct mcpx_json_change){"params", mcpx_text_view(&new_params)};
    if (!mcpx_json_get(message, "jsonrpc").text)
        changes[count++] = (struct mcpx_json_change){"jsonrpc", MCPX_SLICE("\"2.0\"")};
    mcpx_json_add_changed(out, message, changes, count);
    out->failed = out->failed || new_params.failed;
    mcpx_text_fini(&new_params);
}

void import_add_with_jsonrpc(struct mcpx_text *out, struct mcpx_slice message)
{
    struct mcpx_json_change change = {"jsonrpc", MCPX_SLICE("\"2.0\"")};

    mcpx_json_add_changed(out, message, &change,
                          mcpx_json_get(message, "jsonrpc").text ? 0 : 1);
}
