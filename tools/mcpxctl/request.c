/*
 * request.c - what a call cannot say in members of its own travels in its `_meta`.
 */
#include "tools/mcpxctl/request.h"

void request_parts_fini(struct request_parts *parts)
{
    mcpx_text_fini(&parts->name);
    mcpx_text_fini(&parts->arguments);
    mcpx_text_fini(&parts->meta);
}

static void write_meta(struct mcpx_text *out, struct mcpx_slice request,
                       struct mcpx_slice meta)
{
    static const char *const members[][2] = {
        {"request_id", "request_id"},
        {"io.mcpx/artifacts", "artifacts"},
        {"io.mcpx/preferences", "preferences"},
    };
    struct mcpx_json_change changes[sizeof members / sizeof *members];
    size_t count = 0;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct mcpx_slice value = mcpx_json_get(request, members[i][1]);

        if (value.text)
            changes[count++] = (struct mcpx_json_change){members[i][0], value};
    }
    mcpx_json_add_changed(out, meta.text ? meta : MCPX_SLICE("{}"), changes, count);
}

enum mcpx_err request_read(struct mcpx_slice request, struct request_parts *parts,
                           struct operation *out)
{
    static const struct mcpx_json_change without_meta = {"_meta", {NULL, 0}};
    struct mcpx_slice params = mcpx_json_get(request, "params");
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");

    if (meta.text && mcpx_json_type(meta) != MCPX_JSON_OBJECT)
        return MCPX_EINVALID;
    mcpx_json_add_unescaped(&parts->name,
                            mcpx_json_get(mcpx_json_get(request, "tool"), "name"));
    mcpx_json_add_changed(&parts->arguments, params, &without_meta, 1);
    write_meta(&parts->meta, request, meta);
    if (parts->name.failed || parts->arguments.failed || parts->meta.failed)
        return MCPX_ENOMEM;
    *out = (struct operation){
        .method = MCPX_SLICE("tools/call"),
        .name = mcpx_text_view(&parts->name),
        .argument = mcpx_text_view(&parts->arguments),
        .meta = mcpx_text_view(&parts->meta),
    };
    return MCPX_OK;
}
