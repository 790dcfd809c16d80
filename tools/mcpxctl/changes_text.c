/*
 * changes_text.c - the same words for what has just been changed and for what was changed before.
 */
#include "tools/mcpxctl/changes_text.h"

#include "tools/common/visible.h"
#include <mcpx/json.h>

void list_tell(struct mcpx_text *out, const char *title, struct mcpx_slice list)
{
    struct mcpx_json_walk walk;
    bool any = false;

    mcpx_json_walk_start(&walk, list);
    for (; mcpx_json_walk_next(&walk); any = true) {
        mcpx_text_puts(out, any ? ", " : title);
        text_format(out, "%v", walk.value);
    }
    if (any)
        mcpx_text_puts(out, "\n");
}

void changes_tell(struct mcpx_text *out, const char *indent, struct mcpx_slice list)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, list);
    while (mcpx_json_walk_next(&walk)) {
        struct mcpx_slice kind = mcpx_json_get(walk.value, "kind");
        struct mcpx_slice until = mcpx_json_get(walk.value, "until");

        text_format(out, "%s%v", indent, mcpx_json_get(walk.value, "change"));
        if (kind.text)
            text_format(out, " %v", kind);
        if (until.text)
            text_format(out, "  until %v", until);
        text_format(out, "  by %v\n", mcpx_json_get(walk.value, "by"));
    }
}
